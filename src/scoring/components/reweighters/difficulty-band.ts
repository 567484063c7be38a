import { z } from "zod";
import { defineReweighter } from "../define.js";

const quantile = z.number().min(0).max(1);

/**
 * More weight to the middle of the scores.
 *
 * w_i = focus_weight if q_low ≤ s_i ≤ q_high, else 1, with the linear quantiles of the live scores. `(rows,)` → `(rows,)`.
 * Both ends belong to the band (compared as float32). Fewer than two rows → 1. With 0/1 scores there is no middle: use it on group rates
 * or continuous rewards.
 *
 * Example: s = 0, .2, .4, .6, .8 → quantiles .2 and .6 → after mean one .625, 1.25, 1.25, 1.25, .625.
 * Source: DataFlex-RL reweighters.py.
 */
export const difficultyBand = defineReweighter({
  name: "difficulty_band",
  accepts: "row",
  rows: "batch",
  params: z.strictObject({
    low_q: quantile.default(0.25),
    high_q: quantile.default(0.75),
    focus_weight: z.number().positive().default(2),
  }),
  rules: [{ rule: "at_most", params: ["low_q", "high_q"] }],
  doc: {
    summary: "One weight inside a band of score quantiles, another outside.",
    formula: "w_i = focus_weight if q(low_q) <= s_i <= q(high_q) else 1",
    score: "any row score with a middle: a rate (group_solve_rate) or a continuous reward",
    edges: [
      "both ends of the band are inside it, compared as float32",
      "fewer than two rows: weight 1",
      "0/1 scores have no middle: the band takes the majority",
    ],
    params: {
      low_q: "quantile where the band begins, in [0, 1]",
      high_q: "quantile where the band ends, in [0, 1]",
      focus_weight: "weight inside the band, > 0; outside it is 1",
    },
    source: { ref: "DataFlex-RL reweighters.py", verified: "code read, fixture E3 recomputed" },
  },
  act(scores, _batch, { params: { low_q, high_q, focus_weight } }) {
    if (scores.count() < 2) return scores.map(() => 1);
    const inside = scores.ge(scores.quantile(low_q)).and(scores.le(scores.quantile(high_q)));
    return inside.mul(focus_weight - 1).add(1);
  },
});
