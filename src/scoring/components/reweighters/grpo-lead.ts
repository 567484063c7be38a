import { z } from "zod";
import { defineReweighter } from "../define.js";

/**
 * More weight to right answers of hard prompts, and to wrong answers of easy ones.
 *
 * w_i = f(s_i) if A_i > 0, else f(1 − s_i); f(x) = a + (b − a) / (1 + exp(k(x − x0))), s the group's solve rate, A_i the mean of advantages
 * over the row's unmasked tokens. `(rows,)` → `(rows,)` between a and b. An advantage of 0 counts as not positive.
 *
 * Example: s = 0, .25, .5, .75, 1, all A > 0 → 1.499392, 1.492638, 1.416556, 0.95, 0.483444.
 * Source: arXiv 2504.09696.
 */
export const grpoLead = defineReweighter({
  name: "grpo_lead",
  requires: ["advantages", "response_mask"],
  accepts: "row",
  timing: "post_advantage",
  rows: "independent",
  in_log_space: true,
  params: z.strictObject({
    a: z.number().min(0).default(0.4),
    b: z.number().min(0).default(1.5),
    x0: z.number().default(0.75),
    k: z.number().default(10),
  }),
  doc: {
    summary: "More weight to right answers of hard prompts and to wrong answers of easy ones.",
    formula: "w_i = f(s_i) if A_i > 0 else f(1 - s_i); f(x) = a + (b - a) / (1 + exp(k (x - x0)))",
    score: "the group's solve rate in [0, 1] (group_solve_rate, success_threshold 0 for the authors' [R > 0])",
    edges: [
      "an advantage of 0 counts as not positive; it moves nothing anyway",
      "the authors do not normalise: use normalize: none for their exact weights",
    ],
    params: {
      a: "weight far above x0 (easy prompts, for right answers), ≥ 0",
      b: "weight far below x0, ≥ 0",
      x0: "rate where the weight is half-way",
      k: "steepness",
    },
    source: { ref: "arXiv 2504.09696", verified: "authors' code read, fixture E9 recomputed" },
  },
  act(rate, batch, { params: { a, b, x0, k } }) {
    // f(x) = a sigmoid(z) + b sigmoid(-z), z = k (x - x0)
    const f = (x: number) => logSum(Math.log(a) - softplus(k * (x0 - x)), Math.log(b) - softplus(k * (x - x0)));
    return rate.map((s, advantage) => f(advantage! > 0 ? s : 1 - s), batch.field("advantages").mean());
  },
});

/** ln(1 + exp(x)) */
function softplus(x: number): number {
  return Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
}

/** ln(exp(x) + exp(y)) */
function logSum(x: number, y: number): number {
  return x === y ? x + Math.LN2 : Math.max(x, y) + Math.log1p(Math.exp(-Math.abs(x - y)));
}
