import { z } from "zod";
import { defineScorer } from "../define.js";

/**
 * Each token's part in the covariance of advantage and log-probability: where it is large and positive, an update lowers entropy most.
 *
 * s[i,t] = (A[i,t] − mean A) (old_log_probs[i,t] − mean old_log_probs), means over all unmasked tokens of the batch. `(rows, L)` →
 * `(rows, L)`. All advantages equal, or one token: 0.
 *
 * Example: A = 1, −1, log-probs −1, −3 → 1, 1.
 * Source: arXiv 2505.22617; verl clip_cov.
 */
export const advantageCov = defineScorer({
  name: "advantage_cov",
  requires: ["advantages", "old_log_probs", "response_mask"],
  timing: "post_advantage",
  granularity: "token",
  rows: "batch",
  params: z.strictObject({}),
  doc: {
    summary: "Token's share in the covariance of advantage and log-probability.",
    formula: "s[i,t] = (A[i,t] - mean A) (old_log_probs[i,t] - mean old_log_probs), means over all unmasked tokens",
    edges: [
      "all advantages equal, all log-probs equal, or one token: 0",
      "tokens under mask 0 have no score and count in no mean",
    ],
    source: {
      ref: "arXiv 2505.22617; verl core_algos.py clip_cov, kl_cov",
      verified: "verl's code read",
      differs:
        "verl takes the current log-probs of each micro-batch, inside the loss; here they are those before the update, over the whole step",
    },
  },
  score(batch) {
    const [advantages, log] = [batch.field("advantages"), batch.field("old_log_probs")];
    const tokens = Math.max(advantages.count().sum(), 1);
    const centred = (field: typeof log) => field.sub(field.sum().sum() / tokens);
    return centred(advantages).mul(centred(log));
  },
});
