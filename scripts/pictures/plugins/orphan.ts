import { defineScorer, z } from "dataflex-mq";

/** A scorer that only the workers started with this file serve. */
export const orphan = defineScorer({
  name: "orphan",
  requires: ["advantages", "response_mask"],
  timing: "post_advantage",
  granularity: "response",
  rows: "batch",
  params: z.strictObject({}),
  score: (batch) => batch.field("advantages").abs().mean(),
});
