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
    edges: ["far below the center a weight underflows to 0"],
    params: { center: "score that gets half the full weight", width: "> 0; how far around it the weight changes" },
    source: { ref: "an example", verified: "its test beside it" },
  },
  // What comes back is raw: the pipeline divides by the mean over the rows that count (`normalize`).
  act: (scores, _batch, { params: { center, width } }) => scores.map((s) => 1 / (1 + Math.exp((center - s) / width))),
});
