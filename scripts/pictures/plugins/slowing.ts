import { setTimeout as pause } from "node:timers/promises";
import { defineScorer, z } from "dataflex-mq";

/** Scores as advantage_magnitude does, and takes its time: from each step named on, so many milliseconds. */
export const slowing = defineScorer({
  name: "slowing",
  requires: ["advantages", "response_mask"],
  timing: "post_advantage",
  granularity: "response",
  rows: "batch",
  params: z.strictObject({ from: z.array(z.tuple([z.int(), z.number()])) }),
  async score(batch, { params, step }) {
    await pause(params.from.findLast(([first]) => first <= step)?.[1] ?? 0);
    return batch.field("advantages").abs().mean();
  },
});
