/** Eight responses in two groups with hand-checkable numbers: solve rates 1/2 and 3/4, 23 live tokens, prefix masks. */
const uid = ["a", "a", "a", "a", "b", "b", "b", "b"];
const rewards = [1, 0, 1, 0, 1, 1, 1, 0];
/** GRPO advantages of the rewards (unbiased deviation, 1e-6). */
const advantages = [0.8660239, -0.8660239, 0.8660239, -0.8660239, 0.499999, 0.499999, 0.499999, -1.499997];
const probabilities = [
  [0.9, 0.5, 0.2, 0.4],
  [0.8, 0.1, 0.6],
  [0.5, 0.5],
  [0.25, 0.75, 0.5, 1],
  [0.3],
  [0.6, 0.9, 0.3],
  [0.2, 0.4, 0.8, 0.6],
  [0.7, 0.1],
];

export const fixtureF = { uid, rewards, advantages, probabilities, lengths: probabilities.map((row) => row.length) };

/** Fixture F as `replay` reads it, ragged. */
export function recordedF(): {
  step: number;
  adv_estimator: string;
  uid: string[];
  fields: Record<string, (number | null)[][]>;
} {
  return {
    step: 3,
    adv_estimator: "grpo",
    uid: [...uid],
    fields: {
      rm_scores: probabilities.map((row, i) => row.map((_, t) => (t === row.length - 1 ? rewards[i]! : 0))),
      response_mask: probabilities.map((row) => row.map(() => 1)),
      advantages: probabilities.map((row, i) => row.map(() => advantages[i]!)),
      old_log_probs: probabilities.map((row) => row.map(Math.log)),
    },
  };
}
