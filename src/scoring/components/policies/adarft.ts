import { z } from "zod";
import { definePolicy } from "../define.js";
import { MASK_REWARD_DOC, maskReward, outcomeReward } from "../scorers/outcome-reward.js";

interface Target {
  readonly eta: number;
  readonly alpha: number;
  readonly beta: number;
  readonly d_min: number;
  readonly d_max: number;
}

/** T ← clip(T + eta · tanh(alpha · (mean reward − beta)), d_min, d_max). */
export function nextTarget(target: number, meanReward: number, { eta, alpha, beta, d_min, d_max }: Target): number {
  return Math.min(d_max, Math.max(d_min, target + eta * Math.tanh(alpha * (meanReward - beta))));
}

/**
 * The prompts whose difficulty is nearest to a target that follows the mean reward.
 *
 * T ← clip(T + eta · tanh(alpha · (mean reward of the step − beta)), d_min, d_max); the batch_size candidates with the smallest |d − T|.
 *
 * Example: T = 20, mean reward .5 → 20; .75 → 43.1; .1 → 0.
 * Source: arXiv 2504.05520 (AdaRFT).
 */
export const adarft = definePolicy({
  name: "adarft",
  requires: ["difficulty"],
  feed_requires: ["rm_scores", "response_mask"],
  remember_steps: 20_000,
  params: z.strictObject({
    batch_size: z.int().min(1),
    eta: z.number().min(0).default(50),
    alpha: z.number().min(0).default(2),
    beta: z.number().default(0.5),
    d_min: z.number().default(0),
    d_max: z.number().default(100),
    start: z.number().default(0),
    mask_reward: maskReward,
  }),
  rules: [
    { rule: "less", params: ["d_min", "d_max"] },
    { rule: "at_most", params: ["d_min", "start"] },
    { rule: "at_most", params: ["start", "d_max"] },
  ],
  doc: {
    summary: "Keeps the prompts whose difficulty is nearest to a target that rises with the reward.",
    formula:
      "T <- clip(T + eta tanh(alpha (mean reward - beta)), d_min, d_max) per step; keep the batch_size candidates with the smallest |difficulty - T|",
    edges: [
      "equal distances: the earlier candidate",
      "fewer candidates than batch_size: all are kept",
      "the same prompt may be chosen step after step: offer only those that the epoch still has to give",
      "T is computed anew from the mean rewards of the last 20,000 steps, from start on",
    ],
    params: {
      batch_size: "prompts to keep, >= 1",
      eta: "step size, in units of difficulty",
      alpha: "sensitivity to the reward, >= 0",
      beta: "mean reward at which the target stays where it is",
      d_min: "lowest target",
      d_max: "highest target",
      start: "target before any step",
      mask_reward: MASK_REWARD_DOC,
    },
    source: { ref: "arXiv 2504.05520", verified: "authors' code read, fixture E15 recomputed" },
  },
  feed(batch, ctx) {
    const reward = outcomeReward(batch, ctx);
    return [["step", reward.count(), reward.mean()]];
  },
  select(history, candidates, ctx) {
    const { params } = ctx;
    const target = history.steps.reduce((t, { values }) => {
      const [, , mean] = values[0] ?? [];
      return mean === undefined ? t : nextTarget(t, mean, params);
    }, params.start);
    ctx.count("target_difficulty", target);
    const distance = candidates.column("difficulty").map((difficulty) => Math.abs(difficulty - target));
    return { keep: distance.rank({ largest: false }).lt(params.batch_size).values };
  },
});
