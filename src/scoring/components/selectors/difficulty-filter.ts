import { z } from "zod";
import { defineSelector } from "../define.js";

/**
 * Keeps whole groups of intermediate difficulty.
 *
 * Keep the group iff low ≤ q ≤ high, q the mean of its scores. `(rows,)` → kept row numbers. Compared as float32, both ends belong to the
 * band. With a group score (`group_solve_rate`) q is that score; with a row score (`reward_difficulty`) the group's mean reward.
 *
 * Example: rates 0, .2, .4, .6, .8, 1, band .2–.8 → .2 .4 .6 .8 stay.
 * Source: arXiv 2504.03380.
 */
export const difficultyFilter = defineSelector({
  name: "difficulty_filter",
  requires: ["uid"],
  accepts: "row",
  needs_groups: true,
  rows: "group",
  params: z.strictObject({ low: z.number().default(0.2), high: z.number().default(0.8) }),
  rules: [{ rule: "at_most", params: ["low", "high"] }],
  doc: {
    summary: "Keeps whole groups whose mean score lies in a band.",
    formula: "keep group g iff low <= q_g <= high, q_g = mean over i in g of s_i",
    score:
      "the solve rate (group_solve_rate), or a reward whose mean over the group is a solve rate (reward_difficulty)",
    edges: [
      "both ends belong to the band, compared as float32",
      "of each (uid, session) only the last row counts in the mean",
      "no group in the band: on_empty decides",
    ],
    params: { low: "lower end of the band", high: "upper end of the band" },
    source: {
      ref: "arXiv 2504.03380 (balanced online difficulty filtering)",
      verified:
        "paper's abstract and summaries read; that both ends belong to the band follows the Python original's documentation, not the paper",
      differs: "the paper fills the batch up with further prompts; here the other rows get weight 0",
    },
  },
  act(scores, batch, { params: { low, high } }) {
    const q = batch.groupBy("uid").mean(scores);
    return q.ge(low).and(q.le(high)).nonzero();
  },
});
