import { z } from "zod";
import { defineReweighter } from "../define.js";

/** ROLL's guard of the range it divides by. */
const EPSILON = 1e-8;

/**
 * Less weight to the batch's long responses, in a straight line from the shortest to the longest.
 *
 * w_i = 1.5 − (s_i − min s) / (max s − min s + 1e-8) over live rows. `(rows,)` → `(rows,)` in [0.5, 1.5]. All equal, or one row → 1.5, which is 1
 * after the default normaliser.
 *
 * Example: s = 10, 20, 30 → 1.5, 1, 0.5.
 * Source: ROLL, length_loss_weight.
 */
export const lengthWeight = defineReweighter({
  name: "length_weight",
  accepts: "row",
  rows: "batch",
  params: z.strictObject({}),
  doc: {
    summary: "Weight falls linearly from the batch's shortest response to its longest.",
    formula: "w_i = 1.5 - (s_i - min s) / (max s - min s + 1e-8), over live rows",
    score: "the length in tokens (response_length)",
    edges: [
      "all lengths equal, or one row: equal weights, 1 after the default normaliser",
      "the default normalize: row is ROLL's own: mean one over rows",
      "the longest response of a step weighs a third of the shortest, however small the difference",
    ],
    source: {
      ref: "ROLL rlvr/actor_worker.py (length_loss_weight)",
      verified: "ROLL's code read",
      differs: "ROLL takes the shortest and longest response of each micro-batch, here they are those of the step",
    },
  },
  act(length) {
    const [shortest, longest] = [length.min(), length.max()];
    return length.map((value) => 1.5 - (value - shortest) / (longest - shortest + EPSILON));
  },
});
