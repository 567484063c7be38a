import { z } from "zod";
import { defineReweighter } from "../define.js";

/**
 * More weight to higher scores.
 *
 * w_i = n · exp(s_i/T) / Σ_j exp(s_j/T) over the n live rows: mean one before any normaliser. `(rows,)` → `(rows,)`, w ≥ 0.
 * The maximum is subtracted first, so large scores do not overflow. All equal → 1; one row → 1.
 *
 * Example: s = ln(1, 2, 3, 4), T = 1 → 0.4, 0.8, 1.2, 1.6; T = 0.5 → 0.133333, 0.533333, 1.2, 2.133333.
 * Source: DataFlex-RL reweighters.py.
 */
export const softmax = defineReweighter({
  name: "softmax",
  accepts: "row",
  rows: "batch",
  params: z.strictObject({ temperature: z.number().positive().default(1) }),
  doc: {
    summary: "Weights proportional to exp(score / temperature).",
    formula: "w_i = n exp(s_i/T) / sum_j exp(s_j/T)",
    score: "any row score: high weighs more",
    edges: ["all scores equal, or one row: weight 1", "padding rows are not in the sum"],
    params: { temperature: "T > 0; small sharpens, large flattens" },
    source: {
      ref: "DataFlex-RL reweighters.py",
      verified: "code read, fixture E2 recomputed",
      differs: "T ≤ 0 and token-shaped scores are refused; padding rows do not count",
    },
  },
  act: (scores, _batch, { params }) => scores.div(params.temperature).softmax().mul(scores.count()),
});
