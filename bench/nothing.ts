import { defineScorer, z } from "dataflex-mq";

/** Scores every row 0. */
export const nothing = defineScorer({
  name: "nothing",
  requires: ["response_mask"],
  timing: "post_reward",
  granularity: "response",
  params: z.strictObject({}),
  score: (batch) => batch.vector(new Float64Array(batch.rows)),
});
