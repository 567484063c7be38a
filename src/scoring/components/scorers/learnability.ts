import { z } from "zod";
import { defineScorer } from "../define.js";
import { MASK_REWARD_DOC, maskReward, outcomeReward } from "./outcome-reward.js";

/**
 * How much there is to learn from a prompt: largest where half of its responses solve it.
 *
 * s_i = q(1 − q), q the group's solve rate as in `group_solve_rate`. `(rows, L)` → `(rows,)` in [0, 0.25].
 * A group of one, and a group that always or never solves, give 0.
 *
 * Example: R = [1, 0, 1, 0 | 1, 1, 1, 0] → 0.25 ×4, 0.1875 ×4.
 * Source: arXiv 2408.15099 (variance of a success); the bound of arXiv 2504.03380.
 */
export const learnability = defineScorer({
  name: "learnability",
  requires: ["rm_scores", "response_mask", "uid"],
  timing: "post_reward",
  granularity: "row",
  needs_groups: true,
  rows: "group",
  params: z.strictObject({ success_threshold: z.number().default(0.5), mask_reward: maskReward }),
  doc: {
    summary: "Variance of a prompt's outcomes (solved or not): largest where half of its responses solve it.",
    formula: "s_i = q(1 - q), q = mean over j in group(i) of [R_j > success_threshold]",
    edges: [
      "a group of one, or with equal outcomes, scores 0",
      "the comparison is strict, both sides as float32",
      "padding and fully masked rows count in no group; of each (uid, session) only the last row counts",
      "rows with reward outside the mask are counted (rows_reward_outside_mask) and warned about",
    ],
    params: {
      success_threshold: "a response solves the prompt when its reward is above this",
      mask_reward: MASK_REWARD_DOC,
    },
    source: {
      ref: "arXiv 2408.15099; arXiv 2504.03380",
      verified:
        "the variance of a 0/1 outcome, recomputed on fixture F; of the second paper only the abstract was read, of the first nothing",
    },
  },
  score(batch, ctx) {
    const solved = outcomeReward(batch, ctx).gt(ctx.params.success_threshold);
    return batch
      .groupBy("uid")
      .mean(solved)
      .map((rate) => rate * (1 - rate));
  },
});
