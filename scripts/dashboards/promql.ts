import type { BinnedName, HistogramName, LabelsOf, MetricName } from "../../src/observe/metrics/definitions.js";

/** Labels that Prometheus adds to what it scrapes. */
type ScrapeLabel = "job" | "instance";
/** A plain value is matched exactly, one in slashes as a regular expression, `$name` as whatever a dashboard's variable selects. */
type Match<N extends MetricName> = Readonly<Partial<Record<keyof LabelsOf<N> | ScrapeLabel, string>>>;
type AnyHistogram = HistogramName | BinnedName;

/** Facts of every process, from prom-client. */
type ProcessMetric =
  | "nodejs_eventloop_lag_p99_seconds"
  | "process_cpu_seconds_total"
  | "process_resident_memory_bytes"
  | "scrape_samples_scraped";

/** `name{label="…"}`. The types know names and labels, so that a renamed metric breaks the build and not a dashboard. */
export const series = <N extends MetricName>(name: N, match?: Match<N>): string => `${name}${selector(match)}`;
export const bucket = <N extends AnyHistogram>(name: N, match?: Match<N>): string => `${name}_bucket${selector(match)}`;
export const sumOf = <N extends AnyHistogram>(name: N, match?: Match<N>): string => `${name}_sum${selector(match)}`;
const countOf = <N extends AnyHistogram>(name: N, match?: Match<N>): string => `${name}_count${selector(match)}`;
export const processSeries = (name: ProcessMetric, match?: Readonly<Partial<Record<ScrapeLabel, string>>>): string =>
  `${name}${selector(match)}`;

/** Growth per second, over a window that Grafana fits to the screen. */
export const rate = (counter: string): string => `rate(${counter}[$__rate_interval])`;
/** Growth over what the screen shows. */
export const increase = (counter: string): string => `increase(${counter}[$__range])`;
/** Of gauges that one broker exports at a time: when the lease moves, two have them for a moment. */
export const latest = (by: readonly string[], gauge: string): string => `max by (${by.join(", ")}) (${gauge})`;
export const sumBy = (by: readonly string[], what: string): string => `sum by (${by.join(", ")}) (${what})`;
/** Quantile of a histogram's growth, by other labels. */
export const quantile = <N extends AnyHistogram>(
  q: number,
  name: N,
  by: readonly string[] = [],
  match?: Match<N>,
): string => `histogram_quantile(${q}, ${sumBy(["le", ...by], rate(bucket(name, match)))})`;
/** Mean of a histogram's growth, by labels. What did not grow has no mean: without the comparison it would be 0 / 0. */
export const meanOf = <N extends AnyHistogram>(name: N, by: readonly string[], match?: Match<N>): string =>
  `${sumBy(by, rate(sumOf(name, match)))} / (${sumBy(by, rate(countOf(name, match)))} > 0)`;

function selector(match: Readonly<Record<string, string | undefined>> = {}): string {
  const parts = Object.entries(match).map(([label, value = ""]) => {
    if (value.startsWith("$")) return `${label}=~"${value}"`;
    const regex = /^\/(.*)\/$/.exec(value)?.[1];
    return regex === undefined ? `${label}="${value}"` : `${label}=~"${regex}"`;
  });
  return parts.length === 0 ? "" : `{${parts.join(",")}}`;
}
