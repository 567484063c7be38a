import { z } from "zod";
import { defineScorer } from "../define.js";
import { RATIO_FIELDS } from "./log-ratio.js";

/**
 * By how much the training policy's probability of a token differs from the rollout engine's.
 *
 * s[i,t] = exp(old_log_probs[i,t]) − exp(rollout_log_probs[i,t]). `(rows, L)` → `(rows, L)` in [−1, 1]. |s| is the total variation between the
 * two policies once every other token of the vocabulary is taken as one. In bypass mode every difference is 0.
 *
 * Example: probabilities 0.9 and 0.5 under the trainer, 0.45 and 0.6 under the engine → 0.45, −0.1.
 * Source: verl dppo_tv; prime-rl's losses; arXiv 2602.04879.
 */
export const probDiff = defineScorer({
  name: "prob_diff",
  requires: RATIO_FIELDS,
  timing: "post_advantage",
  granularity: "token",
  rows: "independent",
  params: z.strictObject({}),
  doc: {
    summary: "Token's probability under the training policy minus that under the rollout engine.",
    formula: "s[i,t] = exp(old_log_probs[i,t]) - exp(rollout_log_probs[i,t])",
    edges: [
      "tokens under mask 0 have no score and are never read",
      "needs log-probs from the rollout engine (verl: rollout.calculate_log_probs); in bypass mode every difference is 0",
    ],
    source: {
      ref: "verl core_algos.py dppo_tv; prime-rl loss.py; ROLL train_infer_corrections.py; arXiv 2602.04879",
      verified: "all three codes read",
      differs:
        "the losses there take the current policy, which changes while a batch is trained on; here it is the policy before the update",
    },
  },
  score: (batch) => batch.field("old_log_probs").exp().sub(batch.field("rollout_log_probs").exp()),
});
