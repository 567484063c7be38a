import { z } from "zod";
import { defineScorer } from "../define.js";

/**
 * Mean entropy of the policy over a response.
 *
 * s_i = Σ_t entropy[i,t] · m[i,t] / max(V_i, 1), V_i = unmasked tokens. `(rows, L)` → `(rows,)`, s ≥ 0, in nats a token.
 * A fully masked row gives 0.
 *
 * Example: entropy = [[0.1, 0.9, 7]], mask = [[1, 1, 0]] → 0.5.
 * Source: the sequence entropy of GRPO-S, arXiv 2508.04349.
 */
export const seqEntropy = defineScorer({
  name: "seq_entropy",
  requires: ["entropy", "response_mask"],
  timing: "post_advantage",
  granularity: "row",
  rows: "independent",
  params: z.strictObject({}),
  doc: {
    summary: "Mean entropy of the policy over the row's unmasked tokens.",
    formula: "s_i = sum over t with m[i,t]=1 of entropy[i,t] / max(V_i, 1)",
    edges: ["a fully masked row scores 0", "verl writes entropy with old_log_probs, but not in bypass mode"],
    source: {
      ref: "arXiv 2508.04349 (GRPO-S)",
      verified: "a plain mean, recomputed on fixture F; the paper's text was not checked",
    },
  },
  score: (batch) => batch.field("entropy").mean(),
});
