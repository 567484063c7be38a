import type { LabelName } from "./labels.js";

export type MetricType = "counter" | "gauge" | "histogram";
export type MetricRole = "broker" | "worker";

export interface MetricDefinition {
  readonly name: string;
  readonly type: MetricType;
  /** Processes that export it. */
  readonly by: readonly MetricRole[];
  /** Describes what all brokers share: exported by the leading one only, so that it is counted once. */
  readonly shared: boolean;
  readonly labels: readonly LabelName[];
  /** Histograms only: upper bounds, ascending, in the unit of the name. */
  readonly buckets?: readonly number[];
  /** Histograms whose elements are counted where they are made: the bounds they are counted by, `buckets` among them. */
  readonly binned?: readonly number[];
  /** The `# HELP` line. */
  readonly help: string;
}

/** Rows of the table; the types keep each metric's name and labels, so that recording is checked at compile time. */
export function exportedBy(by: readonly MetricRole[], shared = false) {
  const row = { by, shared } as const;
  return {
    counter: <const N extends string, const L extends readonly LabelName[]>(name: N, labels: L, help: string) =>
      ({ ...row, type: "counter", name, labels, help }) as const,
    gauge: <const N extends string, const L extends readonly LabelName[]>(name: N, labels: L, help: string) =>
      ({ ...row, type: "gauge", name, labels, help }) as const,
    histogram: <const N extends string, const L extends readonly LabelName[]>(
      name: N,
      labels: L,
      buckets: readonly number[],
      help: string,
    ) => ({ ...row, type: "histogram", name, labels, buckets, help }) as const,
    binned: <const N extends string, const L extends readonly LabelName[]>(
      name: N,
      labels: L,
      binned: readonly number[],
      buckets: readonly number[],
      help: string,
    ) => ({ ...row, type: "histogram", binned, name, labels, buckets, help }) as const,
  };
}
