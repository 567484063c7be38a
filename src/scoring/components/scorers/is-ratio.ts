import { z } from "zod";
import { defineScorer } from "../define.js";
import { LOG_RATIO_BOUND, logRatio, RATIO_FIELDS } from "./log-ratio.js";

/**
 * Ratio of each token's probability under the training policy to that under the engine that sampled it.
 *
 * s[i,t] = exp(clip(old_log_probs[i,t] − rollout_log_probs[i,t], −20, 20)). `(rows, L)` → `(rows, L)` in [2.1e-9, 4.9e8].
 * Tokens under mask 0 have no score. In bypass mode both log-probs are the same and every ratio is 1.
 *
 * Example: old = [[ln 0.5, ln 0.9]], rollout = [[ln 0.25, ln 0.9]] → 2, 1.
 * Source: verl rollout correction, token level.
 */
export const isRatio = defineScorer({
  name: "is_ratio",
  requires: RATIO_FIELDS,
  timing: "post_advantage",
  granularity: "token",
  rows: "independent",
  params: z.strictObject({}),
  doc: {
    summary: "Token's probability under the training policy over that under the rollout engine.",
    formula: "s[i,t] = exp(clip(old_log_probs[i,t] - rollout_log_probs[i,t], -20, 20))",
    edges: [
      "tokens under mask 0 have no score and are never read",
      "needs log-probs from the rollout engine (verl: rollout.calculate_log_probs); in bypass mode every ratio is 1",
    ],
    source: { ref: "verl rollout_corr_helper.py", verified: "verl's code read, fixture E12 recomputed" },
  },
  score: (batch) => logRatio(batch).clip(-LOG_RATIO_BOUND, LOG_RATIO_BOUND).exp(),
});
