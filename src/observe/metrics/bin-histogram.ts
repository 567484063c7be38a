import type { Registry } from "prom-client";
import type { MetricDefinition } from "./definitions.js";
import type { Labels } from "./series-book.js";

interface Series {
  readonly labels: Labels;
  /** Elements of each bin, not cumulative. */
  readonly counts: number[];
  sum: number;
}

/**
 * A histogram that takes counts of bins instead of single values: a step has up to millions of weights, which are counted where they are
 * computed. To a registry and to Prometheus it is a histogram like any other.
 */
export class BinHistogram {
  readonly name: string;
  readonly help: string;
  readonly type = "histogram";
  readonly aggregator = "sum";
  readonly #edges: readonly number[];
  /** For each bin that elements are counted by, the bucket that holds it. */
  readonly #bucketOf: readonly number[];
  readonly #series = new Map<string, Series>();

  constructor({ name, help, buckets = [], binned = buckets }: MetricDefinition, registry: Registry) {
    this.name = name;
    this.help = help;
    this.#edges = buckets;
    this.#bucketOf = [...binned, Number.POSITIVE_INFINITY].map((edge) => {
      const bucket = buckets.findIndex((bound) => bound >= edge);
      return bucket < 0 ? buckets.length : bucket;
    });
    // The registry asks a metric for its name and `get()`; the type wants one of prom-client's own classes.
    registry.registerMetric(this as unknown as Parameters<Registry["registerMetric"]>[0]);
  }

  /** @throws RangeError when there is not one count a bin and one above the last, each a whole number from 0. */
  add(labels: Labels, counts: readonly number[], sum: number): void {
    if (counts.length !== this.#bucketOf.length || !counts.every((n) => Number.isSafeInteger(n) && n >= 0)) {
      throw new RangeError(`${this.name} takes ${this.#bucketOf.length} counts`);
    }
    const key = keyOf(labels);
    const known = this.#series.get(key) ?? { labels, counts: [...this.#edges, 0].map(() => 0), sum: 0 };
    for (const [bin, n] of counts.entries()) known.counts[this.#bucketOf[bin]!]! += n;
    known.sum += sum;
    this.#series.set(key, known);
  }

  remove(labels: Labels): void {
    this.#series.delete(keyOf(labels));
  }

  async get() {
    const values = [...this.#series.values()].flatMap(({ labels, counts, sum }) => {
      let total = 0;
      const buckets = counts.map((n, i) => {
        total += n;
        return { metricName: `${this.name}_bucket`, labels: { le: this.#edges[i] ?? "+Inf", ...labels }, value: total };
      });
      return [
        ...buckets,
        { metricName: `${this.name}_sum`, labels, value: sum },
        { metricName: `${this.name}_count`, labels, value: total },
      ];
    });
    return { name: this.name, help: this.help, type: this.type, aggregator: this.aggregator, values };
  }
}

const keyOf = (labels: Labels): string => Object.values(labels).join("\n");
