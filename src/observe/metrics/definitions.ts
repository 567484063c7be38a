import { BROKER_METRICS } from "./broker-metrics.js";
import { exportedBy, type MetricDefinition, type MetricRole, type MetricType } from "./define-metric.js";
import { WORKER_METRICS } from "./worker-metrics.js";

export type { MetricDefinition, MetricRole, MetricType } from "./define-metric.js";

const every = exportedBy(["broker", "worker"]);

/**
 * Every metric of this system: registries, docs/metrics.md and everything else that lists metrics are generated from this table. Names end in
 * their base unit, `_ratio` for 0–1, `_total` for counters and only them. Gauges of a step keep its last value, so a scrape
 * may miss steps; counters and histograms miss none.
 */
export const METRICS = [
  ...BROKER_METRICS,
  ...WORKER_METRICS,
  // every process
  every.gauge(
    "dataflex_build_info",
    ["version", "role", "node", "bullmq", "tfjs", "protocol"],
    "Build facts; always 1.",
  ),
  every.counter(
    "dataflex_metrics_dropped_total",
    ["metric", "drop"],
    "Values that were not recorded, by metric and reason; recording never fails work.",
  ),
] as const satisfies readonly MetricDefinition[];

type Table = (typeof METRICS)[number];
export type MetricName = Table["name"];
type Of<T extends MetricType> = Extract<Table, { type: T }>["name"];
export type CounterName = Of<"counter">;
export type GaugeName = Of<"gauge">;
export type BinnedName = Extract<Table, { binned: readonly number[] }>["name"];
export type HistogramName = Exclude<Of<"histogram">, BinnedName>;
/** Exactly the labels that a metric declares, each with a value. */
export type LabelsOf<N extends MetricName> = Readonly<Record<Extract<Table, { name: N }>["labels"][number], string>>;

/** The part of the table that one registry holds. */
export function metricsOf(by: MetricRole, shared: boolean): readonly MetricDefinition[] {
  const table: readonly MetricDefinition[] = METRICS;
  return table.filter((m) => m.by.includes(by) && m.shared === shared);
}
