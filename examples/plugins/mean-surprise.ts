import { defineScorer, z } from "dataflex-mq";

/** How surprised the policy was by what it wrote: the mean of −log p over a response's tokens, `(rows, L)` → `(rows,)`. */
export const meanSurprise = defineScorer({
  name: "mean_surprise",
  requires: ["old_log_probs", "response_mask"],
  timing: "post_advantage",
  granularity: "response",
  rows: "independent",
  params: z.strictObject({ power: z.number().positive().default(1) }),
  doc: {
    summary: "Mean of -log p over the tokens of a response.",
    formula: "s_i = (mean over live t of -log p[i,t]) ^ power",
    edges: ["a fully masked row scores 0"],
    params: { power: "> 0; above 1 sets the surprising responses further apart" },
    source: { ref: "an example", verified: "its test beside it" },
  },
  // `mean` is over the tokens of the mask alone, and nothing but those is read.
  score: (batch, { params }) => batch.field("old_log_probs").mul(-1).mean().pow(params.power),
});
