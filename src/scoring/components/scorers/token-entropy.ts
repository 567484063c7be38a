import { z } from "zod";
import { defineScorer } from "../define.js";

/**
 * Entropy of the policy at each token.
 *
 * s[i,t] = entropy[i,t] where m[i,t] = 1, in nats. `(rows, L)` → `(rows, L)`, s ≥ 0. Tokens under mask 0 have no score.
 * Trainers write it in the old-log-prob pass; verl's bypass mode has no such pass and no entropy.
 *
 * Example: entropy = [[0.1, 0.9, 7]], mask = [[1, 1, 0]] → 0.1, 0.9.
 * Source: the signal of arXiv 2506.01939 and arXiv 2508.04349.
 */
export const tokenEntropy = defineScorer({
  name: "token_entropy",
  requires: ["entropy", "response_mask"],
  timing: "post_advantage",
  granularity: "token",
  rows: "independent",
  params: z.strictObject({}),
  doc: {
    summary: "Entropy of the policy at each token.",
    formula: "s[i,t] = entropy[i,t]",
    edges: [
      "tokens under mask 0 have no score and are never read",
      "verl writes entropy with old_log_probs, but not in bypass mode",
    ],
    source: { ref: "the signal of arXiv 2506.01939; verl", verified: "verl's code read" },
  },
  score: (batch) => batch.field("entropy"),
});
