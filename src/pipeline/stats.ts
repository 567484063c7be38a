import type { WeightStats } from "../protocol/messages.js";

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

/** Moments of `values[from … to)`, in two passes: small slices stay in the cache and nothing cancels. */
export function momentsOf(values: ArrayLike<number>, from = 0, to = values.length): Moments {
  const n = to - from;
  if (n <= 0) return NO_MOMENTS;
  let sum = 0;
  let min = Infinity;
  let max = -Infinity;
  let zeros = 0;
  for (let k = from; k < to; k++) {
    const value = values[k]!;
    sum += value;
    if (value < min) min = value;
    if (value > max) max = value;
    if (value === 0) zeros++;
  }
  const mean = sum / n;
  let m2 = 0;
  for (let k = from; k < to; k++) m2 += (values[k]! - mean) ** 2;
  return { n, mean, m2, min, max, zeros };
}

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

/** Over nothing, n is 0 and so is everything else. */
export function scoreStats({ n, mean, m2 }: Moments): { n: number; mean: number; std: number } {
  return { n, mean, std: n === 0 ? 0 : Math.sqrt(m2 / n) };
}

/**
 * @param weights moments over live rows (row weights) or live tokens (token weights).
 * @param keptRatio share of live rows that keep any weight at all.
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
