import { z } from "zod";
import { defineScorer } from "../define.js";
import { MASK_REWARD_DOC, maskReward, outcomeReward } from "./outcome-reward.js";

/**
 * How much a prompt's responses disagree: the variance of their rewards as a share of the largest that 0/1 rewards can have.
 *
 * s_i = min(1, v / v_max), v the group's unbiased variance of R, v_max = G / (4(G − 1)) for even group size G, (G + 1) / (4G) for odd.
 * `(rows, L)` → `(rows,)` in [0, 1]. For k successes among 0/1 rewards v = k(G − k) / (G(G − 1)). A group of one gives 0.
 *
 * Example: R = [1, 1, 1, 0] → 0.75; [1, 0, 0, 0, 0] → 0.666667; [0, 0, 0, 0] → 0.
 * Source: arXiv 2509.19803 (VCRL), the score p.
 */
export const groupRewardVariance = defineScorer({
  name: "group_reward_variance",
  requires: ["rm_scores", "response_mask", "uid"],
  timing: "post_reward",
  granularity: "row",
  needs_groups: true,
  rows: "group",
  params: z.strictObject({ mask_reward: maskReward }),
  doc: {
    summary: "Variance of a prompt's rewards, as a share of the largest possible.",
    formula: "s_i = min(1, v / v_max); v = unbiased variance of R in the group; v_max = G/(4(G-1)), odd G: (G+1)/(4G)",
    edges: [
      "a group of one, or of equal rewards, scores 0",
      "rewards outside [0, 1] can exceed v_max: the score stops at 1",
      "padding and fully masked rows count in no group; of each (uid, session) only the last row counts",
      "rows with reward outside the mask are counted (rows_reward_outside_mask) and warned about",
    ],
    params: { mask_reward: MASK_REWARD_DOC },
    source: {
      ref: "arXiv 2509.19803",
      verified: "formula read in two summaries of the paper, not in the paper itself; fixture E13 recomputed",
      differs: "only the score: the paper's memory bank is not part of it; rewards need not be 0/1",
    },
  },
  score(batch, ctx) {
    const groups = batch.groupBy("uid");
    const variance = groups.std(outcomeReward(batch, ctx)).square();
    return variance.map((v, size) => Math.min(1, v / largestVariance(size)), groups.count());
  },
});

/** Of 0/1 rewards: as many successes as failures, or one more. A group of one has variance 0 whatever this says. */
function largestVariance(size: number): number {
  if (size < 2) return 1;
  return size % 2 === 0 ? size / (4 * (size - 1)) : (size + 1) / (4 * size);
}
