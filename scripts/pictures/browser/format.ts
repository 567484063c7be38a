/** A value in a panel's unit, as short as an axis wants it. */
export function format(value: number, unit: string): string {
  switch (unit) {
    case "percentunit":
      return `${short(100 * value)}%`;
    case "s":
      return seconds(value);
    case "bytes":
    case "Bps":
      return `${scaled(value, 1024, ["B", "KiB", "MiB", "GiB"])}${unit === "Bps" ? "/s" : ""}`;
    case "none":
      return String(value);
    default:
      return Math.abs(value) >= 1_000 ? scaled(value, 1_000, ["", "K", "Mil"]) : short(value);
  }
}

/** Minutes and seconds since the run began. */
export const clock = (s: number): string => `${Math.floor(s / 60)}:${String(Math.round(s % 60)).padStart(2, "0")}`;

function short(value: number): string {
  return String(Number(value.toPrecision(3)));
}

function seconds(value: number): string {
  if (value === 0) return "0 s";
  if (Math.abs(value) < 1) return `${short(1_000 * value)} ms`;
  return Math.abs(value) < 120 ? `${short(value)} s` : `${short(value / 60)} min`;
}

function scaled(value: number, by: number, units: readonly string[]): string {
  let [rest, i] = [value, 0];
  while (Math.abs(rest) >= by && i < units.length - 1) [rest, i] = [rest / by, i + 1];
  return `${short(rest)} ${units[i]}`.trim();
}
