import { z } from "zod";
import { defineScorer } from "../define.js";
import { MASK_REWARD_DOC, maskReward, outcomeReward } from "./outcome-reward.js";

/**
 * Share of a prompt's responses that solve it, spread back to the group's rows.
 *
 * s_i = mean over rows j of i's group of [R_j > success_threshold], strictly; R as in `reward_difficulty`. `(rows, L)` → `(rows,)` in [0, 1].
 * Padding and fully masked rows do not count; of each (uid, session) only the last row does; a group of one gives 0 or 1.
 *
 * Example: R = [1, 0, 1, 0 | 1, 1, 1, 0], uid a ×4, b ×4 → 0.5 ×4, 0.75 ×4.
 * Source: DataFlex-RL scorers.py; with a strict band (0, 1) the dynamic sampling of DAPO, arXiv 2503.14476.
 */
export const groupSolveRate = defineScorer({
  name: "group_solve_rate",
  requires: ["rm_scores", "response_mask", "uid"],
  timing: "post_reward",
  granularity: "row",
  needs_groups: true,
  rows: "group",
  params: z.strictObject({ success_threshold: z.number().default(0.5), mask_reward: maskReward }),
  doc: {
    summary: "Share of a prompt's responses that solve it.",
    formula: "s_i = mean over j in group(i) of [R_j > success_threshold]",
    edges: [
      "the comparison is strict, both sides as float32",
      "padding and fully masked rows count in no group",
      "of each (uid, session) only the last row counts",
      "a group of one scores 0 or 1",
      "rows with reward outside the mask are counted (rows_reward_outside_mask) and warned about",
    ],
    params: {
      success_threshold: "a response solves the prompt when its reward is above this",
      mask_reward: MASK_REWARD_DOC,
    },
    source: {
      ref: "DataFlex-RL scorers.py; arXiv 2503.14476",
      verified: "code read, fixture E1 recomputed",
      differs: "padding rows form no group; sessions with several rows count once",
    },
  },
  score(batch, ctx) {
    const reward = outcomeReward(batch, ctx);
    return batch.groupBy("uid").mean(reward.gt(ctx.params.success_threshold));
  },
});
