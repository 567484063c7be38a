import { z } from "zod";
import { definePolicy } from "../define.js";
import { MASK_REWARD_DOC } from "../scorers/outcome-reward.js";
import { OUTCOME_FIELDS, outcomeParams, outcomesByKey } from "./outcomes-by-key.js";
import { weighPrompts } from "./weigh-prompts.js";

/**
 * Sampling weights by learnability: prompts that are sometimes solved are drawn most often.
 *
 * w = q (1 − q) + floor, q the prompt's latest solve rate; never visited: unseen + floor; over their sum.
 *
 * Example: floor 0, q = 0 .5 1 → 0 1 0.
 * Source: arXiv 2502.12272 for the score; sampling by it with a floor is ours.
 */
export const learnabilityPool = definePolicy({
  name: "learnability_pool",
  feed_requires: [...OUTCOME_FIELDS],
  needs_groups: true,
  params: z.strictObject({
    floor: z.number().min(0).default(0.05),
    unseen: z.number().min(0).default(0.25),
    ...outcomeParams,
  }),
  doc: {
    summary: "Sampling weights by learnability: prompts that are sometimes solved are drawn most often.",
    formula:
      "w = q (1 - q) + floor, q = latest solve rate (share of responses with R > success_threshold); divided by the sum",
    edges: [
      "every candidate is kept: the trainer draws by the weights",
      "never visited: unseen + floor, by default as if half solved",
      "all weights 0: equal weights",
      "the last 1,000 steps are remembered: a prompt not visited in them is unseen again",
    ],
    params: {
      floor: "added to every weight, >= 0; 0: what is always or never solved is not drawn again",
      unseen: "learnability of a prompt never visited, >= 0",
      success_threshold: "a response is solved when its reward is above it",
      mask_reward: MASK_REWARD_DOC,
    },
    source: {
      ref: "arXiv 2502.12272",
      verified:
        "the score q(1 - q) against the paper's abstract; floor and weight for unseen prompts are ours and not published",
      differs: "the paper keeps the prompts of highest learnability by rejection; here all are kept and weighted",
    },
  },
  feed: outcomesByKey,
  select: (history, candidates, { params: { floor, unseen } }) =>
    weighPrompts(history, candidates, (latest) =>
      latest === undefined ? unseen + floor : latest.solved * (1 - latest.solved) + floor,
    ),
});
