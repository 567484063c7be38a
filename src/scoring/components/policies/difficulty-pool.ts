import { z } from "zod";
import { definePolicy } from "../define.js";
import { MASK_REWARD_DOC, maskReward } from "../scorers/outcome-reward.js";
import { OUTCOME_FIELDS, outcomesByKey } from "./outcomes-by-key.js";
import { weighPrompts } from "./weigh-prompts.js";

/**
 * Sampling weights by pool: hard, normal or easy by the prompt's latest mean reward.
 *
 * mean ≤ hard_below → hard_weight; ≤ easy_above → normal_weight; else easy_weight; never visited → unseen_weight; over their sum.
 *
 * Example: latest means unseen 0 .25 .5 .75 1 → weights 1 .2 .2 1 1 .2 over 3.6.
 * Source: prime-rl.
 */
export const difficultyPool = definePolicy({
  name: "difficulty_pool",
  feed_requires: [...OUTCOME_FIELDS],
  needs_groups: true,
  params: z.strictObject({
    hard_below: z.number().default(0.25),
    easy_above: z.number().default(0.75),
    hard_weight: z.number().min(0).default(0.2),
    normal_weight: z.number().min(0).default(1),
    easy_weight: z.number().min(0).default(0.2),
    unseen_weight: z.number().min(0).default(1),
    mask_reward: maskReward,
  }),
  rules: [{ rule: "less", params: ["hard_below", "easy_above"] }],
  doc: {
    summary: "Sampling weights by pool: prompts that are too hard or too easy are drawn less often.",
    formula:
      "w = hard_weight if mean <= hard_below, normal_weight if mean <= easy_above, else easy_weight; unseen_weight before the first visit; divided by the sum",
    edges: [
      "every candidate is kept: the trainer draws by the weights (the source draws with replacement)",
      "all weights 0: equal weights",
      "the last 1,000 steps are remembered: a prompt not visited in them is unseen again",
    ],
    params: {
      hard_below: "latest mean reward up to which a prompt is hard",
      easy_above: "latest mean reward above which a prompt is easy",
      hard_weight: "weight of hard prompts, >= 0",
      normal_weight: "weight of the prompts in between, >= 0",
      easy_weight: "weight of easy prompts, >= 0",
      unseen_weight: "weight of prompts never visited, >= 0",
      mask_reward: MASK_REWARD_DOC,
    },
    source: {
      ref: "prime-rl",
      verified: "its code read, fixture E15 recomputed",
      differs: "gives the weights; drawing is the trainer's",
    },
  },
  feed: outcomesByKey,
  select(history, candidates, { params }) {
    // Compared as float32, as the trainer would.
    const [hard, easy] = [Math.fround(params.hard_below), Math.fround(params.easy_above)];
    return weighPrompts(history, candidates, (latest) => {
      if (latest === undefined) return params.unseen_weight;
      const mean = Math.fround(latest.mean);
      if (mean <= hard) return params.hard_weight;
      return mean <= easy ? params.normal_weight : params.easy_weight;
    });
  },
});
