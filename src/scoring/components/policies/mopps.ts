import { z } from "zod";
import { seededRng } from "../../batch/rng.js";
import { betaDraw } from "../../mix/beta.js";
import type { PromptHistory } from "../../mix/prompt-history.js";
import { definePolicy } from "../define.js";
import { MASK_REWARD_DOC } from "../scorers/outcome-reward.js";
import { OUTCOME_FIELDS, outcomeParams, outcomesByKey, readOutcome } from "./outcomes-by-key.js";

interface Prior {
  readonly decay: number;
  readonly prior_alpha: number;
  readonly prior_beta: number;
}

/** The beta distribution of a prompt's solve rate after its visits: each one lets what was known fade towards the prior. */
export function posterior(history: PromptHistory, key: string, prior: Prior): { alpha: number; beta: number } {
  const { decay, prior_alpha, prior_beta } = prior;
  return history.visits(key).reduce(
    ({ alpha, beta }, { numbers }) => {
      const { responses, solved } = readOutcome(numbers);
      return {
        alpha: decay * alpha + (1 - decay) * prior_alpha + solved * responses,
        beta: decay * beta + (1 - decay) * prior_beta + (1 - solved) * responses,
      };
    },
    { alpha: prior_alpha, beta: prior_beta },
  );
}

/**
 * Keeps the prompts whose solve rate, as far as it is known, is nearest to a target, by Thompson sampling.
 *
 * Per prompt (α, β), the prior at first; each visit: α ← decay α + (1 − decay) prior_alpha + solved responses, β likewise with the others.
 * θ ~ Beta(α, β), drawn for each candidate; the batch_size candidates with the smallest (θ − target)² are kept.
 *
 * Example: prior 1, 1, decay 0.5, a visit with 3 of 4 solved → (4, 2); another with none of 4 → (2.5, 5.5).
 * Source: arXiv 2507.04632 (MoPPS).
 */
export const mopps = definePolicy({
  name: "mopps",
  feed_requires: [...OUTCOME_FIELDS],
  needs_groups: true,
  params: z.strictObject({
    batch_size: z.int().min(1),
    target: z.number().min(0).max(1).default(0.5),
    decay: z.number().min(0).max(1).default(1),
    prior_alpha: z.number().positive().default(1),
    prior_beta: z.number().positive().default(1),
    ...outcomeParams,
  }),
  doc: {
    summary: "Keeps the prompts whose solve rate, drawn from what is known of it, is nearest to a target.",
    formula:
      "each visit: alpha <- decay alpha + (1 - decay) prior_alpha + solved, beta <- decay beta + (1 - decay) prior_beta + not solved\ntheta ~ Beta(alpha, beta); keep the batch_size candidates with the smallest (theta - target)^2",
    edges: [
      "a prompt never visited is drawn from the prior: uniformly by default",
      "fewer candidates than batch_size: all are kept",
      "equal distances (as float32): the earlier candidate",
      "the same run, step and prompt always draw the same number",
      "the last 1,000 steps are remembered: visits before them are forgotten",
      "offer several times batch_size candidates (the authors: 8 times), or there is nothing to choose",
    ],
    params: {
      batch_size: "prompts to keep, >= 1",
      target: "solve rate that is wanted, in [0, 1]",
      decay: "how much of what was known a visit leaves, in [0, 1]; the authors' scripts use 0.5",
      prior_alpha: "successes that the prior counts for, > 0",
      prior_beta: "failures that the prior counts for, > 0",
      success_threshold: "a response is solved when its reward is above it",
      mask_reward: MASK_REWARD_DOC,
    },
    source: {
      ref: "arXiv 2507.04632; thu-rllab/MoPPS recipe/ours/mopps.py (bandit_target_mean, bandit_decay_ratio)",
      verified: "authors' code read, fixture recomputed by hand",
      differs:
        "of the authors' two strategies only topk. They count rollout.n responses a visit, here those that arrived; solved is a reward of 1 or more there",
    },
  },
  feed: outcomesByKey,
  select(history, candidates, { params, run, step, trigger }) {
    const distances = candidates.strings("dataset_key").map((key) => {
      const { alpha, beta } = posterior(history, key, params);
      const theta = betaDraw(alpha, beta, seededRng("mopps", run, step, trigger, key));
      return (theta - params.target) ** 2;
    });
    return { keep: candidates.vector(distances).rank({ largest: false }).lt(params.batch_size).values };
  },
});
