import { z } from "zod";
import { defineScorer } from "../define.js";
import { MASK_REWARD_DOC, maskReward, outcomeReward } from "./outcome-reward.js";

/**
 * Mean reward of a prompt's responses, spread back to the group's rows.
 *
 * s_i = mean over rows j of i's group of R_j, R as in `reward_difficulty`. `(rows, L)` → `(rows,)`.
 * Padding and fully masked rows do not count; of each (uid, session) only the last row does; a group of one gives its own reward.
 *
 * Example: R = [1, 0, 0.5 | -1], uid a ×3, b → 0.5 ×3, -1.
 * Source: GRPO's baseline, arXiv 2402.03300.
 */
export const groupMeanReward = defineScorer({
  name: "group_mean_reward",
  requires: ["rm_scores", "response_mask", "uid"],
  timing: "post_reward",
  granularity: "row",
  needs_groups: true,
  rows: "group",
  params: z.strictObject({ mask_reward: maskReward }),
  doc: {
    summary: "Mean reward of a prompt's responses.",
    formula: "s_i = mean over j in group(i) of R_j",
    edges: [
      "padding and fully masked rows count in no group",
      "of each (uid, session) only the last row counts",
      "a group of one scores its own reward",
      "rows with reward outside the mask are counted (rows_reward_outside_mask) and warned about",
    ],
    params: { mask_reward: MASK_REWARD_DOC },
    source: { ref: "arXiv 2402.03300 (the group baseline)", verified: "solve rates of fixture F recomputed" },
  },
  score: (batch, ctx) => batch.groupBy("uid").mean(outcomeReward(batch, ctx)),
});
