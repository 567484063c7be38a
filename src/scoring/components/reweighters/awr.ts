import { z } from "zod";
import type { RowVector } from "../../batch/row-vector.js";
import { defineReweighter } from "../define.js";

/** Keeps equal scores from being divided by 0; the authors' value. */
const EPSILON = 1e-5;

/**
 * Weights that grow exponentially with the advantage, up to a limit.
 *
 * w_i = min(exp(x_i / beta), clip); x = s, or with `standardize` (s − mean) / (std + 1e-5) over the live rows, std of the population.
 * `(rows,)` → `(rows,)`, 0 < w ≤ clip. With rewards for scores this is reward-weighted regression. All scores equal, or one row → 1
 * when standardised.
 *
 * Example: x = 1, −1, 0.8, 0, beta 0.25, clip 20, not standardised → 20, 0.018316, 20, 1.
 * Source: arXiv 1910.00177.
 */
export const awr = defineReweighter({
  name: "awr",
  accepts: "row",
  rows: "batch",
  in_log_space: true,
  params: z.strictObject({
    beta: z.number().positive().default(1),
    clip: z.number().positive().default(20),
    standardize: z.boolean().default(true),
  }),
  doc: {
    summary: "Weights grow exponentially with the advantage, up to a limit.",
    formula: "w_i = min(exp(x_i / beta), clip); x = (s - mean) / (std + 1e-5) over live rows, or s itself",
    score: "the advantage (signed_advantage); with a reward (reward_difficulty) it is reward-weighted regression",
    edges: [
      "standardised: all scores equal, or one row: weight 1",
      "the exponent is capped at ln(clip), so nothing overflows; normalised weights are relative to the largest, so none vanish together",
      "the paper does not normalise: use normalize: none for its exact weights",
    ],
    params: {
      beta: "temperature > 0; small sharpens",
      clip: "largest weight before normalisation, > 0",
      standardize: "subtract the mean of the live rows and divide by their population deviation + 1e-5",
    },
    source: {
      ref: "arXiv 1910.00177",
      verified: "authors' code read, fixture E10 recomputed",
      differs: "weighs the trainer's policy gradient instead of a regression on the actions",
    },
  },
  act(scores, _batch, { params: { beta, clip, standardize } }) {
    const x = standardize ? standardized(scores) : scores;
    const limit = Math.log(clip);
    return x.map((value) => Math.min(value / beta, limit));
  },
});

function standardized(scores: RowVector): RowVector {
  const centred = scores.sub(scores.mean());
  return centred.div(Math.sqrt(centred.square().mean()) + EPSILON);
}
