import { z } from "zod";
import { defineSelector } from "../define.js";

/**
 * Keeps two responses of each prompt: the best, and the worst or a random other one.
 *
 * Per group the row with the highest score, and of the others the one with the lowest (`partner: worst`) or a uniformly drawn one
 * (`random`, seeded by run, step and pipeline). `(rows,)` → kept row numbers. Equal scores (as float32): the lower row. A group of one
 * is kept.
 *
 * Example: s = 0.2, 0.9, 0.5, 0.1 → rows 1 and 3; all equal → rows 0 and 1.
 * Source: arXiv 2409.06957 (PF-PPO, the filters BW and BR).
 */
export const bestAndWorst = defineSelector({
  name: "best_and_worst",
  requires: ["uid"],
  accepts: "row",
  needs_groups: true,
  // The draws of `random` come from one generator, group after group: all groups must be there.
  rows: "batch",
  params: z.strictObject({ partner: z.enum(["worst", "random"]).default("worst") }),
  doc: {
    summary: "Keeps the best response of each prompt, and the worst or a random other one.",
    formula: "per group: argmax s_i, and of the others argmin s_i (worst) or one drawn uniformly (random)",
    score: "the reward (reward_difficulty)",
    edges: [
      "equal scores (as float32): the lower row; all equal: the first two rows",
      "a group of one row is kept",
      "random is seeded by run, step, trigger and pipeline: a step that is scored again draws the same",
    ],
    params: { partner: "what is kept beside the best: worst, or a random other" },
    source: {
      ref: "arXiv 2409.06957",
      verified: "authors' filter code read",
      differs: "the authors filter per sampled micro-batch; here per prompt",
    },
  },
  act(scores, batch, { params: { partner }, rng }) {
    const kept: number[] = [];
    const values = scores.values.map(Math.fround);
    for (const members of batch.groupBy("uid").members()) {
      const best = first(members, (i, j) => values[i]! > values[j]!);
      const others = members.filter((row) => row !== best);
      kept.push(best);
      if (others.length === 0) continue;
      const drawn = others[Math.floor(rng() * others.length)]!;
      kept.push(partner === "random" ? drawn : first(others, (i, j) => values[i]! < values[j]!));
    }
    return kept.sort((a, b) => a - b);
  },
});

/** The first row that no other comes before. */
function first(rows: Int32Array, before: (row: number, other: number) => boolean): number {
  return rows.reduce((chosen, row) => (before(row, chosen) ? row : chosen));
}
