import { z } from "zod";
import { defineScorer } from "../define.js";

/**
 * The dataset's own difficulty of a row's prompt.
 *
 * s_i = difficulty_i, a column with one number a row. `(rows,)` → `(rows,)`, in whatever scale the dataset has.
 *
 * Example: difficulty = 0.2, 0.9 → 0.2, 0.9.
 * Source: ROLL, difficulty_loss_weight; AdaRFT's column.
 */
export const difficulty = defineScorer({
  name: "difficulty",
  requires: ["difficulty"],
  timing: "post_reward",
  granularity: "row",
  rows: "independent",
  params: z.strictObject({}),
  doc: {
    summary: "The dataset's own difficulty of the prompt.",
    formula: "s_i = difficulty_i",
    edges: [
      "in the dataset's scale: what takes the score says which it expects",
      "the trainer sends the column with its rewards, one number a row; verl's trainers do not",
    ],
    source: { ref: "ROLL rlvr/actor_worker.py (difficulty in the batch)", verified: "ROLL's code read" },
  },
  score: (batch) => batch.column("difficulty"),
});
