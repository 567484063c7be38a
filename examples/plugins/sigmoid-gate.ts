import { defineReweighter, z } from "dataflex-mq";

/** Fades rows out below a score: w_i = 1 / (1 + exp(−(s_i − center) / width)), `(rows,)` → `(rows,)` in (0, 1). */
export const sigmoidGate = defineReweighter({
  name: "sigmoid_gate",
  accepts: "row",
  rows: "independent",
  params: z.strictObject({ center: z.number().default(0), width: z.number().positive().default(1) }),
  doc: {
    summary: "Fades rows out below a score.",
    formula: "w_i = 1 / (1 + exp(-(s_i - center) / width))",
    score: "any row score",
    edges: ["far below the center: exp((s_i - center) / width), so that a step of such rows keeps its proportions"],
    params: { center: "score that gets half the full weight", width: "> 0; how far around it the weight changes" },
    source: { ref: "an example", verified: "its test beside it" },
  },
  // The logarithms of the weights: as weights, those of a step far below the center would all be 0. They are raw: the pipeline divides
  // by the mean over the rows that count (`normalize`).
  in_log_space: true,
  act: (scores, _batch, { params: { center, width } }) => scores.map((s) => -softplus((center - s) / width)),
});

/** ln(1 + exp(x)), without overflow. */
function softplus(x: number): number {
  return Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
}
