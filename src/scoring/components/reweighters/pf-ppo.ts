import { z } from "zod";
import { defineReweighter } from "../define.js";

/** Added to every weight, as verl does: no row is ever impossible to draw, and a step of zeros stays uniform. */
const EPSILON = 1e-8;

/**
 * More weight to extreme rewards, as PF-PPO samples them.
 *
 * `pow`: w_i = |s_i|^weight_pow; `max_min`: 1 where s_i is the largest or smallest, else 0; `max_random`: 0.4 where s_i is the largest, else
 * 0.1; everywhere + 1e-8. Largest and smallest of the batch, or of the row's group. `(rows,)` → `(rows,)`, w > 0.
 * Compared as float32; all that tie for an extreme have it. All scores equal → 1 after mean one.
 *
 * Example: s = 0.2, −0.5, 1, 0.3, pow 2 → after mean one 0.115942, 0.724638, 2.898551, 0.260870.
 * Source: arXiv 2409.06957; verl core_algos.py.
 */
export const pfPpo = defineReweighter({
  name: "pf_ppo",
  requires: ["uid"],
  accepts: "row",
  rows: "batch",
  params: z.strictObject({
    method: z.enum(["pow", "max_min", "max_random"]).default("pow"),
    weight_pow: z.number().min(0).default(2),
    scope: z.enum(["batch", "group"]).default("batch"),
  }),
  doc: {
    summary: "More weight to extreme rewards: by a power of their size, or to the best and the worst.",
    formula:
      "pow: w_i = |s_i|^weight_pow + 1e-8\nmax_min: w_i = [s_i is the largest or smallest] + 1e-8\nmax_random: w_i = (0.4 if s_i is the largest else 0.1) + 1e-8",
    score: "the reward (reward_difficulty)",
    edges: [
      "rows that tie for the largest or smallest (as float32) all count as such",
      "all scores equal: weight 1 after mean one",
      "weight_pow applies to pow only, scope to the other two",
    ],
    params: {
      method: "pow, max_min or max_random",
      weight_pow: "exponent of pow, ≥ 0",
      scope: "among which rows largest and smallest are found: the batch, or the row's group",
    },
    source: {
      ref: "arXiv 2409.06957; verl core_algos.py compute_pf_ppo_reweight_data",
      verified: "verl's code read, fixture E9 recomputed",
      differs: "verl draws rows anew by these weights (critic training with gae only); here they weigh the rows",
    },
  },
  act(scores, batch, { params: { method, weight_pow, scope } }) {
    if (method === "pow") return scores.abs().pow(weight_pow).add(EPSILON);
    const groups = batch.groupBy("uid");
    const largest = scores.ge(scope === "group" ? groups.max(scores) : scores.max());
    if (method === "max_random") return largest.map((is) => (is === 1 ? 0.4 : 0.1) + EPSILON);
    const smallest = scores.le(scope === "group" ? groups.min(scores) : scores.min());
    return largest.or(smallest).add(EPSILON);
  },
});
