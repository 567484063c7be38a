import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Bins } from "../../protocol/statistics-messages.js";
import { BinHistogram } from "./bin-histogram.js";
import type {
  BinnedName,
  CounterName,
  GaugeName,
  HistogramName,
  LabelsOf,
  MetricDefinition,
  MetricName,
  MetricType,
} from "./definitions.js";
import type { LabelName } from "./labels.js";
import { type Kind, type Labels, SeriesBook } from "./series-book.js";

type AnyMetric = Counter | Gauge | Histogram | BinHistogram;
type Apply = (metric: AnyMetric, labels: Labels) => void;
interface Entry {
  readonly metric: AnyMetric;
  readonly kind: Kind;
}
type Drop = "nonfinite" | "negative" | "error";

export interface MeterOptions {
  readonly lines?: number;
  readonly drops?: Meter;
}

/** Far above any page of this system. */
const MOST_LINES = 5_000;

/**
 * A registry made from a part of the table, and the only way to record into it. Recording never throws and never spoils a series:
 * what is not finite (prom-client would throw for a histogram, and leave a counter NaN for ever) is dropped and counted. A gauge
 * of `_other` is not set: the values of different runs would only overwrite each other.
 */
export class Meter {
  readonly registry = new Registry();
  readonly #metrics = new Map<string, Entry>();
  readonly #series: SeriesBook;
  readonly #drops: Meter;

  /** `lines`: the size that its page may grow to. `drops`: the meter that counts dropped values, when it is another one. */
  constructor(definitions: readonly MetricDefinition[], { lines = MOST_LINES, drops }: MeterOptions = {}) {
    this.#drops = drops ?? this;
    this.#series = new SeriesBook(lines);
    for (const d of definitions) {
      const lines = d.buckets ? d.buckets.length + 3 : 1;
      const kind = { name: d.name, labels: d.labels, lines, addsUp: d.type !== "gauge" };
      this.#metrics.set(d.name, { metric: create(d, this.registry), kind });
    }
  }

  inc<N extends CounterName>(name: N, labels: LabelsOf<N>, by = 1): void {
    this.#record(name, labels, by, "counter", (metric, to) => (metric as Counter).inc(to, by));
  }
  /** Makes a counter's series exist at 0: one born at 7 shows no increase. */
  init<N extends CounterName>(name: N, labels: LabelsOf<N>): void {
    this.inc(name, labels, 0);
  }
  set<N extends GaugeName>(name: N, labels: LabelsOf<N>, value: number): void {
    this.#record(name, labels, value, "gauge", (metric, to) => (metric as Gauge).set(to, value));
  }
  observe<N extends HistogramName>(name: N, labels: LabelsOf<N>, value: number): void {
    this.#record(name, labels, value, "histogram", (metric, to) => (metric as Histogram).observe(to, value));
  }

  /** Adds elements that were counted elsewhere, a bin for each bucket and one above the last. */
  addBins<N extends BinnedName>(name: N, labels: LabelsOf<N>, { counts, sum }: Bins): void {
    this.#record(name, labels, sum, "histogram", (metric, to) => (metric as BinHistogram).add(to, counts, sum));
  }

  /** Takes away every series of the metrics named (default: all) that has this label value. */
  remove(label: LabelName, value: string, names: Iterable<string> = this.#metrics.keys()): void {
    for (const name of names) this.#take(name, label, value);
  }
  /** Takes away every series of these gauges, before a new snapshot of what exists is set. */
  clear(names: readonly GaugeName[]): void {
    for (const name of names) this.#take(name);
  }
  /** Back to nothing recorded. */
  reset(): void {
    for (const name of this.#metrics.keys()) this.#take(name);
  }

  #take(name: string, label?: LabelName, value?: string): void {
    const entry = this.#metrics.get(name);
    if (!entry || (label && !entry.kind.labels.includes(label))) return;
    for (const labels of this.#series.take(entry.kind, label, value)) entry.metric.remove(labels);
  }

  #record(name: MetricName, given: Labels, value: number, kind: MetricType, apply: Apply): void {
    let why: Drop | undefined;
    if (!Number.isFinite(value)) why = "nonfinite";
    else if (kind === "counter" && value < 0) why = "negative";
    else if (!this.#apply(name, given, apply)) why = "error";
    if (why) this.#drop(name, why);
  }

  #apply(name: string, given: Labels, apply: Apply): boolean {
    const entry = this.#metrics.get(name);
    if (!entry) return false;
    const labels = this.#series.admit(entry.kind, given);
    if (!labels) return true;
    try {
      apply(entry.metric, labels);
      return true;
    } catch {
      return false;
    }
  }

  #drop(metric: string, drop: Drop): void {
    if (metric === "dataflex_metrics_dropped_total") return;
    this.#drops.inc("dataflex_metrics_dropped_total", { metric, drop });
  }
}

function create(d: MetricDefinition, registry: Registry): AnyMetric {
  const base = { name: d.name, help: d.help, labelNames: [...d.labels], registers: [registry] };
  if (d.binned) return new BinHistogram(d, registry);
  if (d.type === "histogram") return new Histogram({ ...base, buckets: [...(d.buckets ?? [])] });
  if (d.type === "counter") return new Counter(base);
  const gauge = new Gauge(base);
  // prom-client starts a gauge without labels at 0, which would claim a fact that is not known yet.
  if (d.labels.length === 0) gauge.remove();
  return gauge;
}
