import { z } from "zod";
import { defineScorer } from "../define.js";
import { MASK_REWARD_DOC, maskReward, outcomeReward } from "./outcome-reward.js";

/**
 * Reward per token.
 *
 * s_i = R_i / max(V_i, 1), R as in `reward_difficulty`, V_i = unmasked tokens. `(rows, L)` → `(rows,)`.
 * A fully masked row gives its reward over 1. With negative rewards a longer failure scores higher.
 *
 * Example: R = 1, 1, 0, V = 4, 2, 3 → 0.25, 0.5, 0.
 * Source: arXiv 2508.09726, token efficiency.
 */
export const lengthEfficiency = defineScorer({
  name: "length_efficiency",
  requires: ["rm_scores", "response_mask"],
  timing: "post_reward",
  granularity: "row",
  rows: "independent",
  params: z.strictObject({ mask_reward: maskReward }),
  doc: {
    summary: "Reward per unmasked token.",
    formula: "s_i = R_i / max(V_i, 1), V_i = sum over t of m[i,t]",
    edges: [
      "failures with reward 0 tie at 0, however long",
      "a negative reward makes the longer failure score higher",
      "rows with reward outside the mask are counted (rows_reward_outside_mask) and warned about",
    ],
    params: { mask_reward: MASK_REWARD_DOC },
    source: { ref: "arXiv 2508.09726 (token efficiency)", verified: "fixture E6 (efficiency of fixture F) recomputed" },
  },
  score: (batch, ctx) =>
    outcomeReward(batch, ctx).div(batch.field("response_mask").count().clip(1, Number.POSITIVE_INFINITY)),
});
