import { z } from "zod";
import { defineScorer } from "../define.js";

/**
 * Size of the advantage: how much a row would move the policy.
 *
 * s_i = mean | sum | max over t with m[i,t] = 1 of |A[i,t]|. `(rows, L)` → `(rows,)`, s ≥ 0.
 * A fully masked row gives 0; non-finite advantages under the mask are refused, outside it never read.
 *
 * Example: A = [[1, -3, 9]], mask = [[1, 1, 0]] → mean 2, sum 4, max 3.
 * Source: DataFlex-RL scorers.py.
 */
export const advantageMagnitude = defineScorer({
  name: "advantage_magnitude",
  requires: ["advantages", "response_mask"],
  timing: "post_advantage",
  granularity: "row",
  rows: "independent",
  params: z.strictObject({ agg: z.enum(["mean", "sum", "max"]).default("mean") }),
  doc: {
    summary: "Size of the advantage over the row's unmasked tokens.",
    formula: "s_i = agg over t with m[i,t]=1 of |A[i,t]|",
    edges: ["a fully masked row scores 0", "tokens under mask 0 are never read"],
    params: { agg: "mean, sum or max over the row's unmasked tokens" },
    source: {
      ref: "DataFlex-RL scorers.py",
      verified: "code read, fixture E1 recomputed",
      differs: "declared per response: the score is one per row, not one per prompt",
    },
  },
  score: (batch, { params }) => batch.field("advantages").abs()[params.agg](),
});
