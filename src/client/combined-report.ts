import type { CombinedReport, WeightStats } from "../protocol/messages.js";
import type { Weights } from "./compose.js";

/** The composition of a step as it went to the loss. */
export interface Composed {
  readonly weights: Weights;
  /** Live tokens of each row, 0 for padding. */
  readonly counts: Int32Array;
  /** Elements that the clip moved, up to its lower and down to its upper bound. */
  readonly clipped: { readonly low: number; readonly high: number };
  /** The product of the pipelines as it was before, over the mask that scoring read. */
  readonly product?: { readonly weights: Weights; readonly counts: Int32Array };
}

/** Statistics of composed weights, over live rows (row weights) or live tokens; float64. Undefined when no row is live. */
export function combinedReport({ weights, counts, clipped, product }: Composed): CombinedReport | undefined {
  const stats = statsOf(weights, counts);
  if (stats === undefined) return undefined;
  const before = product && statsOf(product.weights, product.counts);
  return {
    level: weights.kind === "token" ? "token" : "sample",
    stats,
    ...(before && { product: before }),
    clipped: { low: clipped.low / stats.n, high: clipped.high / stats.n },
  };
}

/** Where row `i` has its values. */
function span(w: Weights, i: number): readonly [number, number] {
  return w.kind === "row" ? [i, i + 1] : [w.offsets[i]!, w.offsets[i + 1]!];
}

function statsOf(w: Weights, counts: Int32Array): WeightStats | undefined {
  let [n, sum, zeros, rows, kept] = [0, 0, 0, 0, 0];
  let [min, max] = [Infinity, -Infinity];
  forLiveRows(w, counts, (from, to) => {
    rows++;
    let any = false;
    for (let k = from; k < to; k++) {
      const value = w.values[k]!;
      n++;
      sum += value;
      if (value === 0) zeros++;
      else any = true;
      if (value < min) min = value;
      if (value > max) max = value;
    }
    if (any) kept++;
  });
  if (n === 0) return undefined;
  const mean = sum / n;
  let m2 = 0;
  forLiveRows(w, counts, (from, to) => {
    for (let k = from; k < to; k++) m2 += (w.values[k]! - mean) ** 2;
  });
  const variance = m2 / n;
  const ess_ratio = mean === 0 ? 0 : 1 / (1 + variance / (mean * mean));
  return { n, mean, std: Math.sqrt(variance), min, max, ess_ratio, kept_ratio: kept / rows, zero_ratio: zeros / n };
}

function forLiveRows(w: Weights, counts: Int32Array, visit: (from: number, to: number) => void): void {
  for (let i = 0; i < counts.length; i++) if (counts[i]! > 0) visit(...span(w, i));
}
