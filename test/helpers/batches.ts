/** The seeds' two blocks, and the token form. */
export const REWEIGHT = {
  mechanism: "reweight",
  scorer: { name: "advantage_magnitude" },
  actuator: { name: "softmax", params: { temperature: 1 } },
} as const;
export const SELECT = {
  mechanism: "select",
  scorer: { name: "group_solve_rate", params: { success_threshold: 0.5 } },
  actuator: { name: "threshold_band", params: { low: 0.2, high: 0.8 } },
} as const;
export const TOKEN = {
  mechanism: "reweight",
  scorer: { name: "token_prob" },
  actuator: { name: "advantage_reweight", params: { alpha: 0.5 } },
} as const;

export interface Step {
  readonly advantages: number[][];
  readonly response_mask: number[][];
}

/** Outcome advantages: row i holds `values[i]` over its whole length, which grows by one from row to row. */
export function advantageStep(values: readonly number[], width = values.length + 1): Step {
  const lengths = values.map((_, i) => (i % width) + 1);
  return {
    advantages: values.map((a, i) => Array.from({ length: width }, (_, t) => (t < lengths[i]! ? a : 0))),
    response_mask: lengths.map((n) => Array.from({ length: width }, (_, t) => (t < n ? 1 : 0))),
  };
}

/** Distinct values per step number, so that another step's weights are never taken for this one's. */
export function valuesOf(step: number, rows = 4): number[] {
  return Array.from({ length: rows }, (_, i) => Math.sin(1 + step * 7 + i * 3) * 2);
}

/** What `REWEIGHT` answers for `advantageStep(values)`, by its definition: n · exp|a| / Σ exp|a|. */
export function softmaxWeights(values: readonly number[]): number[] {
  const scores = values.map(Math.abs).map((s) => Math.exp(s));
  const sum = scores.reduce((a, b) => a + b, 0);
  return scores.map((s) => (values.length * s) / sum);
}

/** Rows of outcome rewards in groups of `size`: `rewards[i]` at the last of two tokens. */
export function rewardStep(rewards: readonly number[], size: number) {
  return {
    rm_scores: rewards.map((r) => [0, r]),
    response_mask: rewards.map(() => [1, 1]),
    uid: rewards.map((_, i) => `prompt-${Math.floor(i / size)}`),
  };
}

/** Largest difference between two lists of one length; Infinity when lengths differ or anything is not finite. */
export function worst(got: ArrayLike<number>, want: ArrayLike<number>): number {
  if (got.length !== want.length) return Number.POSITIVE_INFINITY;
  let most = 0;
  for (let i = 0; i < got.length; i++) {
    const d = Math.abs(got[i]! - want[i]!);
    if (!Number.isFinite(d)) return Number.POSITIVE_INFINITY;
    most = Math.max(most, d);
  }
  return most;
}
