import { z } from "zod";
import { defineReweighter } from "../define.js";

/**
 * Less weight to long responses, so that their larger variance does not drive the step.
 *
 * w_i = u_i / mean(u), u_i = (s_i / mean(s))^−alpha, means over live rows, s the response's length in tokens. `(rows,)` → `(rows,)`, w > 0,
 * mean one. alpha 0, or all lengths equal → 1. A length of 0 is refused: such a row is fully masked and does not count.
 *
 * Example: s = 1, 2, 4, alpha 1 → 1.714286, 0.857143, 0.428571.
 * Source: arXiv 2509.07558.
 */
export const deltaL = defineReweighter({
  name: "delta_l",
  accepts: "row",
  rows: "batch",
  params: z.strictObject({ alpha: z.number().min(0).max(1).default(1) }),
  doc: {
    summary: "Weight falls with a power of the response's length.",
    formula: "w_i = u_i / mean(u), u_i = (s_i / mean(s))^-alpha",
    score: "the length in tokens (response_length), > 0",
    edges: [
      "alpha 0, all lengths equal, or one row: weight 1",
      "a score of 0 or less in a live row is refused (weight not finite)",
      "meant for an aggregation with a constant denominator (verl: seq-mean-token-sum-norm)",
    ],
    params: { alpha: "exponent in [0, 1]; the authors use 1 (CountDown) and 0.75 (math)" },
    source: { ref: "arXiv 2509.07558", verified: "authors' code read, fixture E13 recomputed" },
  },
  act(length, _batch, { params: { alpha } }) {
    const u = length.div(length.mean()).pow(-alpha);
    return u.div(u.mean());
  },
});
