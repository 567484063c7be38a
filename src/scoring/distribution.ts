import type { Bins, WeightDistribution } from "../protocol/statistics-messages.js";
import { quantileOf } from "./batch/order.js";

/**
 * Upper bounds of weight bins, dense near 1 because weights are normalised to mean 1; exact zeros have a bin of their own, and the usual
 * clip bounds are edges. One more bin lies above the last bound.
 */
export const WEIGHT_EDGES = [0, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 1, 1.1, 1.25, 1.5, 2, 3, 5, 10, 20, 100] as const;
/** The same for scores, which may be negative. */
export const SCORE_EDGES = [-10, -5, -2, -1, -0.5, -0.1, 0, 0.1, 0.25, 0.5, 0.75, 0.9, 1, 2, 5, 10] as const;
/** Quantiles that are reported of each step's weights. */
export const QUANTILES = [0.01, 0.1, 0.5, 0.9, 0.99] as const;

/** Elements that one distribution samples: 4,096 are sorted in a fraction of a millisecond, and a step has millions of tokens. */
export const MOST_SAMPLED = 4_096;

/**
 * At most `MOST_SAMPLED` elements of the half-open spans of `values`, evenly spaced over all of them, ascending. Every element when
 * there are no more. `spans` is flat: `[from, to, from, to, …]`.
 */
export function sortedSample(values: ArrayLike<number>, spans: ArrayLike<number>): Float64Array {
  let total = 0;
  for (let s = 0; s < spans.length; s += 2) total += spans[s + 1]! - spans[s]!;
  const stride = Math.max(1, Math.ceil(total / MOST_SAMPLED));
  const sample = new Float64Array(Math.ceil(total / stride));
  let n = 0;
  let skip = 0;
  for (let s = 0; s < spans.length; s += 2) {
    let k = spans[s]! + skip;
    for (; k < spans[s + 1]!; k += stride) sample[n++] = values[k]!;
    skip = k - spans[s + 1]!;
  }
  return sample.sort();
}

/** `sorted` ascending, finite. Bounds are compared as float32: float32 0.1 is above the double 0.1 and would fall one bin too high. */
export function binsOf(sorted: Float64Array, edges: readonly number[]): Bins {
  const upTo = edges.map((edge) => rankOf(sorted, Math.fround(edge)));
  const counts = [...upTo, sorted.length].map((rank, i) => rank - (upTo[i - 1] ?? 0));
  return { counts, sum: sorted.reduce((sum, value) => sum + value, 0) };
}

/** Without elements the quantiles are NaN. */
export function weightDistribution(sorted: Float64Array): WeightDistribution {
  return {
    ...binsOf(sorted, WEIGHT_EDGES),
    quantiles: QUANTILES.map((q) => (sorted.length === 0 ? Number.NaN : quantileOf(sorted, q))),
  };
}

/** How many elements are at most `bound`. */
function rankOf(sorted: Float64Array, bound: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! <= bound) low = middle + 1;
    else high = middle;
  }
  return low;
}
