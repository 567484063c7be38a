import { METRICS } from "../../src/observe/metrics/definitions.js";
import type { Dashboard, Panel } from "./panel.js";

/** What config/grafana/provisioning names the data source. */
export const DATASOURCE_UID = "dataflex-prom";
const SOURCE = { type: "prometheus", uid: "$datasource" } as const;
const COLUMNS = 24;
const HEIGHT = 8;
/** `increase` over less than this sees too few scrapes for a heatmap. */
const HEATMAP_INTERVAL = "30s";
/** Logarithmic from here up and down, linear in between. */
const LINEAR_BELOW = 0.01;
const TYPES = { timeseries: "timeseries", stat: "stat", heatmap: "heatmap", table: "table", bars: "bargauge" } as const;

/** A dashboard as Grafana provisions it from a file: no id, no inputs, a fixed uid. */
export function grafanaJson(dashboard: Dashboard): string {
  const json = {
    id: null,
    uid: dashboard.uid,
    title: dashboard.title,
    description: dashboard.description,
    tags: ["dataflex-mq"],
    schemaVersion: 39,
    version: 1,
    editable: true,
    graphTooltip: 1,
    refresh: "10s",
    time: { from: "now-30m", to: "now" },
    annotations: { list: [rollouts()] },
    templating: { list: [datasource(), ...dashboard.variables.map(variable)] },
    panels: place(dashboard.panels).map(panelJson),
  };
  return `${JSON.stringify(json, null, 2)}\n`;
}

interface Placed {
  readonly panel: Panel;
  readonly id: number;
  readonly gridPos: { h: number; w: number; x: number; y: number };
}

/** Left to right, then down. */
function place(panels: readonly Panel[]): Placed[] {
  let [x, y] = [0, 0];
  return panels.map((panel, i) => {
    const w = panel.width ?? COLUMNS / 2;
    if (x + w > COLUMNS) [x, y] = [0, y + HEIGHT];
    const gridPos = { h: HEIGHT, w, x, y };
    x += w;
    return { panel, id: i + 1, gridPos };
  });
}

function panelJson({ panel, id, gridPos }: Placed) {
  const instant = panel.kind === "table" || panel.kind === "bars" || panel.kind === "stat";
  return {
    id,
    gridPos,
    type: TYPES[panel.kind],
    title: panel.title,
    description: `${panel.description}\n\nNo data means: ${panel.noData}`,
    datasource: SOURCE,
    ...(panel.kind === "heatmap" && { interval: HEATMAP_INTERVAL }),
    targets: panel.queries.map((query, i) => ({
      refId: String.fromCharCode(65 + i),
      datasource: SOURCE,
      expr: query.expr,
      legendFormat: query.legend,
      ...(instant && { instant: true, range: false }),
      ...(panel.kind === "table" && { format: "table" }),
      ...(panel.kind === "heatmap" && { format: "heatmap" }),
    })),
    fieldConfig: { defaults: defaults(panel), overrides: overrides(panel) },
    ...(panel.kind === "table" && { transformations: tidyTable() }),
    options: options(panel),
  };
}

/** One row a series, without the time, which is now. */
function tidyTable() {
  return [
    { id: "merge", options: {} },
    { id: "organize", options: { excludeByName: { Time: true } } },
  ];
}

function defaults(panel: Panel) {
  return {
    unit: panel.unit,
    color: { mode: panel.kind === "timeseries" || !panel.bands ? "palette-classic" : "thresholds" },
    ...(panel.kind === "table" && panel.bands && { custom: { cellOptions: { type: "color-background" } } }),
    ...(panel.min !== undefined && { min: panel.min }),
    ...(panel.max !== undefined && { max: panel.max }),
    ...(panel.bands && {
      thresholds: {
        mode: "absolute",
        // Grafana wants the first band without a lower bound.
        steps: panel.bands.map(([value, color], i) => ({ color, value: i === 0 ? null : value })),
      },
    }),
    ...(panel.kind === "timeseries" && {
      custom: {
        lineWidth: 1,
        fillOpacity: panel.stacked ? 40 : 0,
        showPoints: "auto",
        stacking: { mode: panel.stacked ? "normal" : "none" },
        // Unlike a logarithmic scale it can show 0.
        scaleDistribution: panel.log ? { type: "symlog", log: 10, linearThreshold: LINEAR_BELOW } : { type: "linear" },
        ...(panel.bands && { thresholdsStyle: { mode: "area" } }),
      },
    }),
  };
}

function overrides({ colours = {} }: Panel) {
  return Object.entries(colours).map(([name, fixedColor]) => ({
    matcher: { id: "byName", options: name },
    properties: [{ id: "color", value: { mode: "fixed", fixedColor } }],
  }));
}

function options(panel: Panel) {
  if (panel.kind === "heatmap") return { calculate: false, yAxis: { unit: panel.unit }, color: { scheme: "Viridis" } };
  if (panel.kind === "timeseries") {
    return { legend: { displayMode: "list", placement: "bottom" }, tooltip: { mode: "multi", sort: "desc" } };
  }
  if (panel.kind === "table") return { showHeader: true };
  return { reduceOptions: { calcs: ["lastNotNull"] }, orientation: "auto" };
}

function datasource() {
  const current = { text: DATASOURCE_UID, value: DATASOURCE_UID };
  return { name: "datasource", label: "Data source", type: "datasource", query: "prometheus", current, hide: 0 };
}

/** Refreshed when the time range changes, so that runs that have ended can be selected. */
function variable({ name, query }: { name: string; query: string }) {
  return {
    name,
    label: name,
    type: "query",
    datasource: SOURCE,
    definition: query,
    query: { query, refId: name },
    refresh: 2,
    multi: true,
    includeAll: true,
    allValue: ".*",
    current: { text: ["All"], value: ["$__all"] },
    sort: 1,
  };
}

/** A line where a process of another version came up: it may explain a bend in the curves. */
function rollouts() {
  const info = METRICS.find((m) => m.name === "dataflex_build_info")!.name;
  return {
    name: "New version",
    datasource: SOURCE,
    enable: true,
    expr: `count by (version) (${info} unless ${info} offset 1m)`,
    iconColor: "blue",
    titleFormat: "{{version}}",
  };
}
