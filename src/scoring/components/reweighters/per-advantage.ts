import { z } from "zod";
import { defineReweighter } from "../define.js";

/** Keeps 0 from becoming 0 to the power 0, and a row without advantage from vanishing altogether; the paper's epsilon. */
const EPSILON = 1e-8;

/**
 * More weight to rows with a large advantage, as prioritised replay samples them.
 *
 * w_i = (|s_i| + 1e-8)^alpha. `(rows,)` → `(rows,)`, w > 0. alpha 0 → 1 for all. All scores 0 → 1 after mean one.
 *
 * Example: s = 0, 1, 4, 9, alpha = .5 → after mean one 6.667e-05, .66665556, 1.33331111, 1.99996667.
 * Source: arXiv 1511.05952 (there a sampling rule with a bias correction; here an emphasis only).
 */
export const perAdvantage = defineReweighter({
  name: "per_advantage",
  accepts: "row",
  rows: "independent",
  in_log_space: true,
  params: z.strictObject({ alpha: z.number().min(0).default(0.5) }),
  doc: {
    summary: "Weights grow with a power of the score's size.",
    formula: "w_i = (|s_i| + 1e-8)^alpha",
    score: "the size of the advantage (advantage_magnitude)",
    edges: ["alpha 0: weight 1 everywhere", "all scores 0: weight 1 after mean one, however large alpha is"],
    params: { alpha: "exponent ≥ 0; 0 is uniform" },
    source: {
      ref: "arXiv 1511.05952",
      verified: "DataFlex-RL code read, fixture E5 recomputed",
      differs: "the paper samples by this and corrects the bias; here it only weighs",
    },
  },
  act: (scores, _batch, { params }) => scores.abs().add(EPSILON).log().mul(params.alpha),
});
