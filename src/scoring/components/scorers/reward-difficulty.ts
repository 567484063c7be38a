import { z } from "zod";
import { defineScorer } from "../define.js";
import { MASK_REWARD_DOC, maskReward, outcomeReward } from "./outcome-reward.js";

/**
 * The outcome reward of a row; high = easy.
 *
 * s_i = Σ_t rm_scores[i,t] · m[i,t] (over every response token with `mask_reward: false`). `(rows, L)` → `(rows,)`.
 * A fully masked row gives 0; reward outside the mask is counted and warned about.
 *
 * Example: rm_scores = [[0, 0, 1]], mask = [[1, 1, 0]] → 0 and one row counted; 1 with `mask_reward: false`.
 * Source: DataFlex-RL scorers.py; verl's estimators sum unmasked.
 */
export const rewardDifficulty = defineScorer({
  name: "reward_difficulty",
  requires: ["rm_scores", "response_mask"],
  timing: "post_reward",
  granularity: "row",
  rows: "independent",
  params: z.strictObject({ mask_reward: maskReward }),
  doc: {
    summary: "The row's outcome reward: high is easy.",
    formula: "s_i = sum over t with m[i,t]=1 of rm_scores[i,t]",
    edges: [
      "a fully masked row scores 0",
      "rows with reward outside the mask are counted (rows_reward_outside_mask) and warned about",
    ],
    params: { mask_reward: MASK_REWARD_DOC },
    source: { ref: "DataFlex-RL scorers.py", verified: "code read, fixture E1 recomputed" },
  },
  score: outcomeReward,
});
