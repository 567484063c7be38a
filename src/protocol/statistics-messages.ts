import type { ErrorCode } from "../errors.js";

// What results and releases say about weights and scores.

/** Merged over shards, never averaged. Over valid (live) elements, float64. `std` is the population deviation. */
export interface WeightStats {
  readonly n: number;
  readonly mean: number;
  readonly std: number;
  readonly min: number;
  readonly max: number;
  /** 1 / (1 + var / mean²); 0 when all weights are 0. */
  readonly ess_ratio: number;
  readonly kept_ratio: number;
  readonly zero_ratio: number;
}

/** How many elements fell into each bin (one per bound, one above the last), and their sum. */
export interface Bins {
  readonly counts: readonly number[];
  readonly sum: number;
}
export interface WeightDistribution extends Bins {
  /** Values at `QUANTILES`, linearly between ranks. */
  readonly quantiles: readonly number[];
}
export interface Distribution {
  readonly weights?: WeightDistribution;
  readonly scores?: Bins;
}

/**
 * Live rows by weight, ascending, one list per column: up to ten of the lowest, then up to ten of the highest (all, if there are no
 * more). A row's weight and score are means over its tokens if they are per token.
 */
export interface ExtremeRows {
  readonly rows: readonly number[];
  readonly weights: readonly number[];
  readonly scores?: readonly number[];
  readonly uids?: readonly string[];
}

/** What a trainer reports when it releases a step. */
export interface ReleaseReport {
  /** Milliseconds for which it was blocked waiting for the step's weights. */
  readonly wait_ms: number;
  /** The composition as it went into the loss, before existing `rollout_is_weights`; absent if none was requested. */
  readonly combined?: CombinedReport;
  /** The step trained without weights (`on_unavailable: neutral`): the error for which. */
  readonly neutral?: ErrorCode;
  /** Earlier steps that trained without weights and could not be reported, since Redis did not take their release. */
  readonly unreported?: number;
}

export interface CombinedReport {
  /** One weight per row, or one per token. */
  readonly level: "sample" | "token";
  readonly stats: WeightStats;
  /** Of the delivered pipelines' product, before re-mask, clip and rescale. */
  readonly product?: WeightStats;
  /** Shares of elements that `clip` moved to its lower and to its upper bound. */
  readonly clipped: { readonly low: number; readonly high: number };
}
