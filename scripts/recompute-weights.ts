/**
 * The demo's weights computed anew from the tensors it printed, in plain arithmetic that shares no code with the components:
 * GRPO advantages, solve rates and band, softmax of |advantage|, token probabilities. Token matrices are one list a row.
 */
export interface Posted {
  readonly post_reward: { readonly rm_scores: number[][]; readonly response_mask: number[][]; readonly uid: string[] };
  readonly post_advantage: {
    readonly advantages: number[][];
    readonly old_log_probs: number[][];
    readonly response_mask: number[][];
  };
}

export function rewardsOf({ post_reward: { rm_scores, response_mask } }: Posted): number[] {
  return rm_scores.map((row, i) => sum(row.map((x, t) => x * response_mask[i]![t]!)));
}

/** `(R − mean) / (unbiased deviation + 1e-6)` within each group. */
export function grpoAdvantages(posted: Posted): number[] {
  const rewards = rewardsOf(posted);
  return overGroups(posted.post_reward.uid, rewards, (group) => {
    const mean = sum(group) / group.length;
    const deviation = Math.sqrt(sum(group.map((r) => (r - mean) ** 2)) / (group.length - 1));
    return (r) => (r - mean) / (deviation + 1e-6);
  });
}

/** 1 for rows of groups of which some, but not all, were solved. */
export function difficultyWeights(posted: Posted): number[] {
  return overGroups(posted.post_reward.uid, rewardsOf(posted), (group) => {
    const solved = group.filter((r) => r > 0.5).length;
    return () => (solved > 0 && solved < group.length ? 1 : 0);
  });
}

/** Softmax over rows of the mean |advantage|, mean one. */
export function magnitudeWeights({ post_advantage: { advantages } }: Posted): number[] {
  const scores = advantages.map((row) => sum(row.map(Math.abs)) / row.length);
  const powers = scores.map((s) => Math.exp(s - Math.max(...scores)));
  return powers.map((p) => (p * powers.length) / sum(powers));
}

/** Half of the token's probability plus a half, mean one over tokens. */
export function confidenceWeights({ post_advantage: { old_log_probs } }: Posted): number[][] {
  const raw = old_log_probs.map((row) => row.map((lp) => 0.5 * Math.exp(lp) + 0.5));
  const mean = sum(raw.flat()) / raw.flat().length;
  return raw.map((row) => row.map((w) => w / mean));
}

/** The product of the three, token by token. */
export function combinedWeights(posted: Posted): number[][] {
  const difficulty = difficultyWeights(posted);
  const magnitude = magnitudeWeights(posted);
  return confidenceWeights(posted).map((row, i) => row.map((w) => w * difficulty[i]! * magnitude[i]!));
}

function overGroups(
  uid: readonly string[],
  values: readonly number[],
  of: (group: number[]) => (value: number) => number,
): number[] {
  const groups = new Map<string, number[]>();
  for (const [row, value] of values.entries()) groups.set(uid[row]!, [...(groups.get(uid[row]!) ?? []), value]);
  return values.map((value, row) => of(groups.get(uid[row]!)!)(value));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, x) => total + x, 0);
}
