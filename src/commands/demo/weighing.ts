import type { Rollout } from "./trainer.js";

/** Weights of one step's tokens, summed up. Over response tokens, except `kept`; `std` is the population deviation. */
export interface WeightSummary {
  readonly mean: number;
  readonly std: number;
  /** Effective sample size as a share: `1 / (1 + std² / mean²)`; 0 when every weight is 0. */
  readonly ess_ratio: number;
  /** Share of the rows with at least one weight above 0. */
  readonly kept_ratio: number;
}

/**
 * @param weights `(rows × width)`, row-major
 */
export function summariseWeights(weights: ArrayLike<number>, rollout: Rollout): WeightSummary {
  let tokens = 0;
  let sum = 0;
  let kept = 0;
  forEachToken(rollout, (at) => {
    tokens += 1;
    sum += weights[at]!;
  });
  const mean = sum / tokens;
  let squares = 0;
  forEachToken(rollout, (at) => {
    squares += (weights[at]! - mean) ** 2;
  });
  for (let row = 0; row < rollout.rows; row++) {
    const start = row * rollout.width;
    if (rowSome(start, start + rollout.lengths[row]!, (at) => weights[at]! > 0)) kept += 1;
  }
  const variance = squares / tokens;
  return {
    mean,
    std: Math.sqrt(variance),
    ess_ratio: mean === 0 ? 0 : 1 / (1 + variance / mean ** 2),
    kept_ratio: kept / rollout.rows,
  };
}

/** A row-major `(rows × width)` matrix as one list a row, cut to the response's length. */
export function perResponse(matrix: ArrayLike<number>, rollout: Rollout): number[][] {
  return Array.from({ length: rollout.rows }, (_, row) =>
    Array.from({ length: rollout.lengths[row]! }, (_, t) => matrix[row * rollout.width + t]!),
  );
}

function forEachToken(rollout: Rollout, visit: (at: number) => void): void {
  for (let row = 0; row < rollout.rows; row++) {
    for (let t = 0; t < rollout.lengths[row]!; t++) visit(row * rollout.width + t);
  }
}

function rowSome(start: number, stop: number, test: (at: number) => boolean): boolean {
  for (let at = start; at < stop; at++) if (test(at)) return true;
  return false;
}
