import { z } from "zod";
import { defineReweighter } from "../define.js";

/**
 * More weight to harder prompts.
 *
 * w_i = 0.5 + 1.5 d, d = s_i clamped to [0, 1]; with `easy: true` the score says how easy a prompt is, and d = 1 − that. `(rows,)` → `(rows,)`
 * in [0.5, 2].
 *
 * Example: s = 0, 0.5, 1, 3 → 0.5, 1.25, 2, 2.
 * Source: ROLL, difficulty_loss_weight.
 */
export const difficultyWeight = defineReweighter({
  name: "difficulty_weight",
  accepts: "row",
  rows: "independent",
  params: z.strictObject({ easy: z.boolean().default(false) }),
  doc: {
    summary: "Weight grows linearly with the prompt's difficulty.",
    formula: "w_i = 0.5 + 1.5 d_i; d = s clamped to [0, 1], or 1 minus that (easy)",
    score: "a difficulty in [0, 1] (difficulty), or with easy: true a solve rate (group_solve_rate)",
    edges: [
      "scores outside [0, 1] count as the nearer end",
      "all equal: equal weights, 1 after the default normaliser",
      "the default normalize: row is ROLL's own: mean one over rows",
    ],
    params: { easy: "true: the score says how easy a prompt is" },
    source: {
      ref: "ROLL rlvr/actor_worker.py (difficulty_loss_weight)",
      verified: "ROLL's code read",
      differs: "ROLL normalises over a micro-batch; easy is ours",
    },
  },
  act: (scores, _batch, { params: { easy } }) => scores.clip(0, 1).map((held) => 0.5 + 1.5 * (easy ? 1 - held : held)),
});
