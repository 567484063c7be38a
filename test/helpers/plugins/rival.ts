import { defineScorer, z } from "dataflex-mq";

/** Another scorer under the name `slow`: twice the magnitude. */
export const slow = defineScorer({
  name: "slow",
  requires: ["advantages", "response_mask"],
  timing: "post_advantage",
  granularity: "response",
  params: z.strictObject({ ms: z.number().default(0) }),
  score: (batch) => batch.field("advantages").abs().mean().mul(2),
});
