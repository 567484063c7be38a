import { z } from "zod";
import { defineScorer } from "../define.js";

/**
 * The row's advantage with its sign.
 *
 * s_i = mean over t with m[i,t] = 1 of A[i,t]; for group estimators every token carries the same value. `(rows, L)` → `(rows,)`.
 * A fully masked row gives 0.
 *
 * Example: A = [[1, -3, 9]], mask = [[1, 1, 0]] → −1.
 * Source: the exponent of arXiv 1910.00177.
 */
export const signedAdvantage = defineScorer({
  name: "signed_advantage",
  requires: ["advantages", "response_mask"],
  timing: "post_advantage",
  granularity: "row",
  rows: "independent",
  params: z.strictObject({}),
  doc: {
    summary: "Mean advantage over the row's unmasked tokens, with its sign.",
    formula: "s_i = mean over t with m[i,t]=1 of A[i,t]",
    edges: ["a fully masked row scores 0", "tokens under mask 0 are never read"],
    source: { ref: "arXiv 1910.00177 (the exponent)", verified: "fixture F recomputed" },
  },
  score: (batch) => batch.field("advantages").mean(),
});
