import { readFileSync } from "node:fs";
import { DASHBOARDS } from "../dashboards/index.js";
import type { DrawnPanel, Threshold } from "./browser/types.js";

/** What is read of a dashboard's file. */
interface GrafanaPanel {
  readonly title: string;
  readonly type: DrawnPanel["type"];
  readonly gridPos: { readonly w: number };
  readonly interval?: string;
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string; readonly instant?: boolean }[];
  readonly fieldConfig: {
    readonly defaults: {
      readonly unit: string;
      readonly min?: number;
      readonly max?: number;
      readonly thresholds?: { readonly steps: readonly Threshold[] };
      readonly custom?: {
        readonly stacking?: { readonly mode: string };
        readonly scaleDistribution?: { readonly type: string };
        readonly thresholdsStyle?: { readonly mode: string };
      };
    };
    readonly overrides: readonly {
      readonly matcher: { readonly options: string };
      readonly properties: readonly { readonly value: { readonly fixedColor: string } }[];
    }[];
  };
}
type Labels = Readonly<Record<string, string>>;
interface Series {
  readonly metric: Labels;
  /** Of a range: [unix s, value]. */
  readonly values?: readonly (readonly [number, string])[];
  readonly value?: readonly [number, string];
}

export interface Window {
  /** Unix time in seconds. */
  readonly from: number;
  readonly to: number;
}
/** Values of a dashboard's variables, by name. */
export type Variables = Readonly<Record<string, string>>;
/** GET of Prometheus' API. */
export type Get = <T>(path: string) => Promise<T>;

/** Between two points of a curve, s. */
const STEP = 5;
/** What Grafana makes of the provisioned data source: four scrapes of 5 s. */
const RATE_INTERVAL = 20;
const FOLDER = new URL("../../config/grafana/dashboards/", import.meta.url);

export const TRAINING = "training.json";

/** Panels as the dashboards' files have them. */
export function panelsOf(file: string): GrafanaPanel[] {
  return (JSON.parse(readFileSync(new URL(file, FOLDER), "utf8")) as { panels: GrafanaPanel[] }).panels;
}
/** Panels of all dashboards, two in a row. */
export function panelsNamed(titles: readonly string[]): GrafanaPanel[] {
  const all = Object.keys(DASHBOARDS).flatMap(panelsOf);
  return titles.map((title) => {
    const found = all.find((panel) => panel.title === title);
    if (!found) throw new Error(`no dashboard has a panel "${title}"`);
    return { ...found, gridPos: { w: 12 } };
  });
}

/** Asks a panel's queries of Prometheus as Grafana would, its variables set; those that are not select everything. */
export async function askPanel(get: Get, panel: GrafanaPanel, set: Variables, window: Window): Promise<DrawnPanel> {
  const { defaults } = panel.fieldConfig;
  const wide = panel.interval === undefined ? STEP : Number.parseInt(panel.interval, 10);
  const times = Array.from(
    { length: Math.floor((window.to - window.from) / wide) + 1 },
    (_, i) => window.from + i * wide,
  );
  const found: DrawnPanel["series"][number][] = [];
  for (const target of panel.targets) {
    const expr = substitute(target.expr, set, window, wide);
    const answer = await ask(get, expr, target.instant === true, { ...window, step: wide });
    for (const series of answer) found.push(drawn(series, target.legendFormat, times));
  }
  return {
    title: panel.title,
    type: panel.type,
    width: panel.gridPos.w,
    unit: defaults.unit,
    min: defaults.min ?? null,
    max: defaults.max ?? null,
    thresholds: defaults.thresholds?.steps ?? [],
    colours: Object.fromEntries(
      panel.fieldConfig.overrides.map((o) => [o.matcher.options, o.properties[0]!.value.fixedColor]),
    ),
    areas: defaults.custom?.thresholdsStyle?.mode === "area",
    stacked: defaults.custom?.stacking?.mode === "normal",
    log: defaults.custom?.scaleDistribution?.type === "symlog",
    times: times.map((t) => t - window.from),
    series: found,
  };
}

function substitute(expr: string, set: Variables, { from, to }: Window, step: number): string {
  const rate = Math.max(RATE_INTERVAL, step + 5);
  return expr
    .replaceAll("$__rate_interval", `${rate}s`)
    .replaceAll("$__range", `${Math.round(to - from)}s`)
    .replaceAll(/"\$(\w+)"/g, (_, name: string) => JSON.stringify(set[name] ?? ".*"));
}

async function ask(get: Get, expr: string, instant: boolean, { from, to, step }: Window & { step: number }) {
  const query = `query=${encodeURIComponent(expr)}`;
  const path = instant
    ? `/api/v1/query?${query}&time=${to}`
    : `/api/v1/query_range?${query}&start=${from}&end=${to}&step=${step}`;
  return (await get<{ result: Series[] }>(path)).result;
}

function drawn({ metric, values = [], value }: Series, legend: string, times: readonly number[]) {
  const at = new Map(values.map(([t, v]) => [Math.round(t * 1000), Number(v)]));
  const name = legend.replaceAll(/\{\{(\w+)\}\}/g, (_, label: string) => metric[label] ?? "").trim();
  const numbers = value ? [Number(value[1])] : times.map((t) => at.get(Math.round(t * 1000)) ?? null);
  return { name, labels: metric, values: numbers.map((v) => (v !== null && Number.isFinite(v) ? v : null)) };
}
