import { defineSelector, z } from "dataflex-mq";

/** Keeps the responses of a prompt that score above the mean of that prompt's responses by `margin`, `(rows,)` → row numbers. */
export const aboveGroupMean = defineSelector({
  name: "above_group_mean",
  requires: ["uid"],
  accepts: "row",
  needs_groups: true,
  // A prompt's rows must be seen together; different prompts may go to different workers.
  rows: "group",
  params: z.strictObject({ margin: z.number().min(0).default(0) }),
  doc: {
    summary: "Keeps the responses that score above the mean of their prompt.",
    formula: "keep i if s_i - mean over i's group > margin",
    score: "any row score",
    edges: ["a group whose scores are all equal keeps nothing", "equal to the mean plus margin (as float32): left out"],
    params: { margin: ">= 0; by how much a response must be better" },
    source: { ref: "an example", verified: "its test beside it" },
  },
  act: (scores, batch, { params }) => scores.gt(batch.groupBy("uid").mean(scores).add(params.margin)).nonzero(),
});
