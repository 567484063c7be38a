/**
 * verl's built-in advantage estimators. `groups`: the estimator compares the responses of one prompt with each other, so a
 * score computed over a group means something. `note`: why it does not work with verl's v1 trainers as they stand.
 *
 * Source: verl `core_algos.py` (estimators and their registry) and the fields that its v1 trainers fetch before them.
 */
export interface Estimator {
  readonly name: string;
  readonly groups: boolean;
  readonly note?: string;
}

export const ESTIMATORS: readonly Estimator[] = [
  { name: "gae", groups: false },
  { name: "grpo", groups: true },
  { name: "grpo_vectorized", groups: true },
  { name: "grpo_passk", groups: true, note: "it raises on a group of one row, a lone padding row included" },
  { name: "rloo", groups: true },
  { name: "rloo_vectorized", groups: true },
  { name: "opo", groups: true },
  { name: "gpg", groups: true },
  { name: "reinforce_plus_plus_baseline", groups: true },
  { name: "reinforce_plus_plus", groups: false },
  { name: "remax", groups: false, note: "verl's v1 trainers do not fetch reward_baselines" },
  { name: "gdpo", groups: true, note: "verl's v1 batch has no per-dimension rewards" },
  { name: "optimal_token_baseline", groups: true, note: "verl's v1 trainers do not fetch sum_pi_squared" },
  { name: "tir_optimal_token_baseline", groups: true, note: "verl's v1 trainers do not fetch sum_pi_squared" },
];

/** `AdvantageEstimator.GRPO`, `"GRPO"`, ` grpo ` → `grpo`. The name need not be known. */
export function normalizeEstimator(name: string): string {
  const bare = name.trim();
  return bare.slice(bare.lastIndexOf(".") + 1).toLowerCase();
}

/** The estimator of that name; undefined for one that a user registered with verl. */
export function findEstimator(name: string): Estimator | undefined {
  const wanted = normalizeEstimator(name);
  return ESTIMATORS.find((estimator) => estimator.name === wanted);
}

export function estimatorsWithGroups(): string[] {
  return ESTIMATORS.filter((estimator) => estimator.groups).map((estimator) => estimator.name);
}
