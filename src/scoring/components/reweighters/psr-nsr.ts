import { z } from "zod";
import { defineReweighter } from "../define.js";

/**
 * Less weight to right answers than to wrong ones, or only one of the two.
 *
 * `both`: w_i = lambda if s_i > success_threshold, else 1; `positive`: 1 for right answers, 0 for wrong; `negative`: the other way round.
 * `(rows,)` → `(rows,)`. Compared as float32. Nothing on the side that is kept → all 0, flagged as all_zero.
 *
 * Example: s = 1, 0, 1, 0, 1, 1, 1, 0, lambda .1 → after mean one .228571 for right, 2.285714 for wrong answers.
 * Source: arXiv 2506.01347 (W-REINFORCE, PSR, NSR).
 */
export const psrNsr = defineReweighter({
  name: "psr_nsr",
  accepts: "row",
  rows: "independent",
  params: z.strictObject({
    keep: z.enum(["both", "positive", "negative"]).default("both"),
    lambda: z.number().min(0).default(0.1),
    success_threshold: z.number().default(0.5),
  }),
  doc: {
    summary: "Less weight to right answers than to wrong ones, or only one of the two.",
    formula:
      "both: w_i = lambda if s_i > success_threshold else 1\npositive: w_i = [s_i > success_threshold]\nnegative: w_i = [s_i <= success_threshold]",
    score: "the reward (reward_difficulty)",
    edges: [
      "the comparison is strict, both sides as float32",
      "no answer on the side that is kept: all weights are 0, flagged as all_zero",
      "the paper does not normalise: use normalize: none for its exact weights",
    ],
    params: {
      keep: "both (W-REINFORCE), positive (PSR) or negative (NSR)",
      lambda: "weight of right answers under both, ≥ 0; wrong ones weigh 1",
      success_threshold: "an answer is right when its score is above this",
    },
    source: {
      ref: "arXiv 2506.01347",
      verified: "authors' code and README read, fixture E9 recomputed",
      differs: "the paper's rewards are +1 and -1 without a baseline; here the trainer's advantages stay",
    },
  },
  act(scores, _batch, { params: { keep, lambda, success_threshold } }) {
    const right = scores.gt(success_threshold);
    if (keep === "positive") return right;
    if (keep === "negative") return right.not();
    return right.map((yes) => (yes === 1 ? lambda : 1));
  },
});
