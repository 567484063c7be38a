import { defineScorer, z } from "dataflex-mq";

/** Takes 50 ms for any batch, so that what several workers gain over one does not depend on this machine's cores. */
export const sleeper = defineScorer({
  name: "sleeper",
  requires: ["rm_scores", "response_mask"],
  timing: "post_reward",
  granularity: "response",
  rows: "independent",
  params: z.strictObject({}),
  doc: {
    summary: "Waits 50 ms.",
    formula: "s_i = R_i",
    source: { ref: "this benchmark", verified: "nothing to verify" },
  },
  score: async (batch) => {
    await new Promise((resolve) => setTimeout(resolve, 50));
    return batch.field("rm_scores").sum();
  },
});
