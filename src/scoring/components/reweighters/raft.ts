import { z } from "zod";
import { defineReweighter } from "../define.js";

/**
 * Only the best responses of each prompt.
 *
 * w_i = 1 for the k highest scores of the group, 0 for the others. `(rows,)` → `(rows,)`, 0 or 1.
 * Equal scores (as float32): the lower row first. A group of at most k rows is kept whole.
 *
 * Example: s = 1, 0, 1, 0 | 1, 1, 1, 0, k = 1 → rows 0 and 4, weight 4 after mean one.
 * Source: arXiv 2304.06767.
 */
export const raft = defineReweighter({
  name: "raft",
  requires: ["uid"],
  accepts: "row",
  needs_groups: true,
  rows: "group",
  params: z.strictObject({ k: z.int().min(1).default(1) }),
  doc: {
    summary: "Weight only for the best responses of each prompt.",
    formula: "w_i = 1 if s_i is among the k highest of its group, else 0",
    score: "the reward (reward_difficulty)",
    edges: [
      "equal scores (as float32): the lower row first",
      "a group of at most k rows is kept whole, a group of failures keeps its first",
      "mean one makes the kept rows as heavy as the whole step: normalize: none leaves them at 1",
    ],
    params: { k: "responses to keep a prompt, ≥ 1" },
    source: {
      ref: "arXiv 2304.06767",
      verified:
        "the argmax over a prompt's samples read in summaries and re-implementations, fixture E9 recomputed; the paper's text was not checked",
      differs: "the paper fine-tunes on the best responses; here they keep the trainer's loss and advantages",
    },
  },
  act: (scores, batch, { params: { k } }) => batch.groupBy("uid").top(k, scores),
});
