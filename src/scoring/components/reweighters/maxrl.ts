import { z } from "zod";
import { defineReweighter } from "../define.js";

/** What GRPO adds to a group's deviation (verl). */
const EPSILON = 1e-6;

/**
 * Turns group advantages into those of maximum-likelihood RL: prompts that are rarely solved count for more.
 *
 * w_i = (std + 1e-6) / mean of the group's scores, unbiased deviation, so that GRPO's advantage (s − mean) / (std + 1e-6) times w is
 * (s − mean) / mean; with `normalized: false` (advantages without the deviation) w_i = 1 / mean. 0 where the mean is not above 0, and for a group of
 * one. `(rows,)` → `(rows,)`.
 *
 * Example: s = 1, 0, 0, 0 → deviation 0.5, mean 0.25 → 2.000004; not normalized → 4.
 * Source: arXiv 2602.02710; prime-rl.
 */
export const maxrl = defineReweighter({
  name: "maxrl",
  requires: ["uid"],
  accepts: "row",
  needs_groups: true,
  self_normalized: true,
  rows: "group",
  params: z.strictObject({ normalized: z.boolean().default(true) }),
  doc: {
    summary:
      "Weights that turn group advantages into maximum-likelihood ones: deviation over mean of a group's rewards.",
    formula:
      "w_i = (std + 1e-6) / mean over the group of s (normalized), or 1 / mean; 0 where mean <= 0\nGRPO's (s - mean) / (std + 1e-6) times w is (s - mean) / mean",
    score: "the reward (reward_difficulty), 0 or above",
    edges: [
      "a group's mean of 0 or below: weight 0",
      "a group of one: weight 0, since its advantage is 0 in the source",
      "equal rewards above 0: a weight near 0, without effect since their advantages are 0",
      "not normalised unless asked for: the weights are exact as they are",
    ],
    params: {
      normalized:
        "true: the advantages are divided by the group's deviation (verl: norm_adv_by_std_in_grpo); false: they are not",
    },
    source: {
      ref: "arXiv 2602.02710; prime-rl orchestrator/algo/max_rl.py",
      verified: "prime-rl's code read; that the weight turns one advantage into the other is our derivation, tested",
      differs: "prime-rl assigns the advantage itself, before any whitening over the batch",
    },
  },
  act(rewards, batch, { params: { normalized } }) {
    const groups = batch.groupBy("uid");
    const [mean, std, size] = [groups.mean(rewards), groups.std(rewards), groups.count()];
    return mean.map((m, s, n) => (m > 0 && n! > 1 ? (normalized ? s! + EPSILON : 1) / m : 0), std, size);
  },
});
