import { z } from "zod";
import { defineScorer } from "../define.js";

/**
 * Probability the behaviour policy gave each token.
 *
 * s[i,t] = exp(old_log_probs[i,t]) where m[i,t] = 1. `(rows, L)` → `(rows, L)` in (0, 1]. Tokens under mask 0 have no score.
 * In bypass mode old_log_probs is a copy of the rollout engine's, and so is the score.
 *
 * Example: old_log_probs = [[0, ln 0.5, -7]], mask = [[1, 1, 0]] → 1, 0.5.
 * Source: DataFlex-RL scorers.py; the probability in arXiv 2505.12929.
 */
export const tokenProb = defineScorer({
  name: "token_prob",
  requires: ["old_log_probs", "response_mask"],
  timing: "post_advantage",
  granularity: "token",
  rows: "independent",
  params: z.strictObject({}),
  doc: {
    summary: "Probability of each token under the behaviour policy.",
    formula: "s[i,t] = exp(old_log_probs[i,t])",
    edges: ["tokens under mask 0 have no score and are never read"],
    source: { ref: "DataFlex-RL scorers.py; arXiv 2505.12929", verified: "code read, fixture E4 recomputed" },
  },
  score: (batch) => batch.field("old_log_probs").exp(),
});
