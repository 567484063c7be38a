/** Colours as the dashboards name them, and the order in which Grafana's classic palette gives them to curves. */
const NAMED: Readonly<Record<string, string>> = {
  green: "#73bf69",
  orange: "#ff9830",
  red: "#f2495c",
  blue: "#5794f2",
};

export const colourOf = (name: string): string => NAMED[name] ?? name;

export const CLASSIC = [
  "#73bf69",
  "#f2cc0c",
  "#5794f2",
  "#ff9830",
  "#f2495c",
  "#8ab8ff",
  "#b877d9",
  "#c0d8ff",
  "#ffa6b0",
  "#96d98d",
  "#ffcb7d",
  "#ca95e5",
] as const;

/** Viridis at 0 … 1, between a few of its colours. */
const VIRIDIS = [
  [68, 1, 84],
  [59, 82, 139],
  [33, 145, 140],
  [94, 201, 98],
  [253, 231, 37],
] as const;

export function viridis(share: number): string {
  const at = Math.min(1, Math.max(0, share)) * (VIRIDIS.length - 1);
  const i = Math.min(VIRIDIS.length - 2, Math.floor(at));
  const mixed = VIRIDIS[i]!.map((c, k) => Math.round(c + (at - i) * (VIRIDIS[i + 1]![k]! - c)));
  return `rgb(${mixed.join(",")})`;
}
