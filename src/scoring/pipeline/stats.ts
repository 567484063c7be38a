import type { Bins, WeightStats } from "../../protocol/statistics-messages.js";
import type { Batch } from "../batch/batch.js";
import { liveRows } from "../batch/frame.js";
import { cachedFunction } from "../batch/kernel.js";
import { binsOf, SCORE_EDGES, sortedSample } from "../distribution.js";

/**
 * Moments of a set of numbers in a form that merges: shards add up to exactly what one pass over everything would give, up to
 * rounding. `m2` is the sum of squared deviations from the mean.
 */
export interface Moments {
  readonly n: number;
  readonly mean: number;
  readonly m2: number;
  readonly min: number;
  readonly max: number;
  readonly zeros: number;
}

export const NO_MOMENTS: Moments = { n: 0, mean: 0, m2: 0, min: Infinity, max: -Infinity, zeros: 0 };

/**
 * Moments of `values[from … to)`, in one pass around the first value. That value belongs to the set, so the sum of squares about it is
 * at most n times the one about the mean: in float64 hardly anything cancels, and equal values give exactly 0.
 */
export function momentsOf(values: ArrayLike<number>, from = 0, to = values.length): Moments {
  if (to <= from) return NO_MOMENTS;
  return cachedFunction<Loop>(momentsSource(values.constructor.name))(values, from, to);
}

type Loop = (values: ArrayLike<number>, from: number, to: number) => Moments;

/**
 * Created once per array type, since a loop that sees several types reads each element more slowly; Math.min, since a mispredicted branch
 * costs more. Over the millions of tokens of a step both matter. Zeros are counted only where there can be any.
 */
const momentsSource = (type: string): string => `/* ${type} */
function moments(values, from, to) {
  const n = to - from, first = values[from];
  let sum = 0, squares = 0, min = first, max = first, zeros = 0;
  for (let k = from; k < to; k++) {
    const value = values[k], d = value - first;
    sum += d;
    squares += d * d;
    min = Math.min(min, value);
    max = Math.max(max, value);
  }
  if (!(min > 0 || max < 0)) for (let k = from; k < to; k++) if (values[k] === 0) zeros++;
  return { n, mean: first + sum / n, m2: Math.max(0, squares - (sum * sum) / n), min, max, zeros };
}`;

/** Moments of the union of two disjoint sets. Associative up to rounding (Chan, Golub and LeVeque 1979). */
export function mergeMoments(a: Moments, b: Moments): Moments {
  if (a.n === 0) return b;
  if (b.n === 0) return a;
  const n = a.n + b.n;
  const delta = b.mean - a.mean;
  return {
    n,
    mean: a.mean + (delta * b.n) / n,
    m2: a.m2 + b.m2 + (delta * delta * a.n * b.n) / n,
    min: Math.min(a.min, b.min),
    max: Math.max(a.max, b.max),
    zeros: a.zeros + b.zeros,
  };
}

/** Without elements, n is 0 and so is everything else. */
export function scoreStats({ n, mean, m2 }: Moments): { n: number; mean: number; std: number } {
  return { n, mean, std: n === 0 ? 0 : Math.sqrt(m2 / n) };
}

/** Where the values of these rows are, flat: one value per row, or those of its tokens by `offsets`. */
export function liveSpans(rows: Int32Array, offsets: Int32Array | undefined): Int32Array {
  const spans = new Int32Array(2 * rows.length);
  for (let k = 0; k < rows.length; k++) {
    const i = rows[k]!;
    spans[2 * k] = offsets ? offsets[i]! : i;
    spans[2 * k + 1] = offsets ? offsets[i + 1]! : i + 1;
  }
  return spans;
}

/** Bins of the scores of live rows or tokens. */
export function scoreBins(
  { granularity, values }: { readonly granularity: "row" | "token"; readonly values: Float64Array },
  batch: Batch,
): Bins {
  const spans = liveSpans(liveRows(batch.frame), granularity === "token" ? batch.frame.mask.starts : undefined);
  return binsOf(sortedSample(values, spans), SCORE_EDGES);
}

/**
 * @param weights moments over live rows (row weights) or live tokens (token weights).
 * @param keptRatio share of live rows with any weight above 0.
 */
export function weightStats({ n, mean, m2, min, max, zeros }: Moments, keptRatio: number): WeightStats {
  if (n === 0) return { n, mean: 0, std: 0, min: 0, max: 0, ess_ratio: 0, kept_ratio: 0, zero_ratio: 0 };
  const variance = m2 / n;
  return {
    n,
    mean,
    std: Math.sqrt(variance),
    min,
    max,
    // (Σw)² / (n Σw²), the effective sample size as a share of n
    ess_ratio: mean === 0 ? 0 : 1 / (1 + variance / (mean * mean)),
    kept_ratio: keptRatio,
    zero_ratio: zeros / n,
  };
}
