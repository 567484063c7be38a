import { z } from "zod";
import type { Batch } from "../../batch/batch.js";
import type { RowVector } from "../../batch/row-vector.js";
import type { Context } from "../component-types.js";

/** Parameter of every scorer that reads the outcome reward. */
export const maskReward = z.boolean().default(true);
export const MASK_REWARD_DOC =
  "true: reward on tokens under mask 0 does not count (the rows are counted and warned about); false: every response token counts";

/**
 * R_i = Σ_t rm_scores[i,t] over the mask, or with `mask_reward: false` over every response token, `(rows,)`. Trainers put the outcome
 * on the last response token whatever its mask; where that token is masked (a trajectory that ends in a tool's answer, a
 * rejected token) the masked sum leaves it out, so such rows are counted in `rows_reward_outside_mask` and warned about.
 */
export function outcomeReward(batch: Batch, ctx: Context<{ mask_reward: boolean }>): RowVector {
  const reward = batch.field("rm_scores");
  if (!ctx.params.mask_reward) return reward.sum({ over: "response" });
  // All rows, not only live ones: a fully masked row with a reward is the plainest case of a reward lost.
  const rows = reward.nonzeroOutsideMask().values.filter((tokens) => tokens > 0).length;
  ctx.count("rows_reward_outside_mask", rows);
  if (rows > 0) {
    ctx.warn(
      "some rows carry reward on tokens outside response_mask, which does not count (metric rows_reward_outside_mask); " +
        "set the scorer's parameter mask_reward: false to count every response token",
    );
  }
  return reward.sum();
}
