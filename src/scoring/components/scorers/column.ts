import { z } from "zod";
import { defineScorer } from "../define.js";

/**
 * A field of the trainer's own as the score: s_i = x_i where the field has one number a row, else its mean, sum, last, largest or smallest
 * value over the counted tokens of row i. A row without counted tokens gives 0.
 *
 * Example: acc (rows,) = 1, 0.25 → 1, 0.25; values [[1, 3, 9]] under mask [[1, 1, 0]], mean → 2.
 */
export const column = defineScorer({
  name: "column",
  requires_named: [{ param: "name", kind: "numbers" }],
  timing: "post_reward",
  timing_param: "stage",
  granularity: "row",
  rows: "independent",
  params: z.strictObject({
    name: z.string().min(1).max(96),
    reduce: z.enum(["mean", "sum", "last", "max", "min"]).default("mean"),
    stage: z.enum(["post_reward", "post_advantage"]).nullable().default(null),
  }),
  doc: {
    summary: "A column of the trainer's own: accuracy, staleness, turns, a second reward.",
    formula: "s_i = x_i, or reduce over t of x[i,t]",
    edges: [
      "a row without counted tokens gives 0 where the field has one number a token",
      "nothing is scaled or clipped",
    ],
    source: { ref: "this project", verified: "there is no formula to verify" },
    params: {
      name: "the field, under whatever name the trainer puts it; required",
      reduce: "of a field with one number a token; one number a row is taken as it is",
      stage: "when the trainer puts it; null: when verl has it, post_reward for fields that verl does not have",
    },
  },
  score: (batch, { params: { name, reduce } }) =>
    batch.hasRows(name) ? batch.column(name) : batch.field(name)[reduce](),
});
