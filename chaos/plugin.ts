import { setTimeout as pause } from "node:timers/promises";
import { defineScorer, z } from "dataflex-mq";

/** Scores as advantage_magnitude does; one step in four takes long enough to be hit while it is scored. */
export const dawdling = defineScorer({
  name: "dawdling",
  requires: ["advantages", "response_mask"],
  timing: "post_advantage",
  granularity: "response",
  rows: "batch",
  params: z.strictObject({}),
  async score(batch, { step }) {
    if (step % 4 === 3) await pause(1_500);
    return batch.field("advantages").abs().mean();
  },
});
