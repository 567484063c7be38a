import { z } from "zod";
import { shareOf } from "../../batch/rounding.js";
import { defineSelector } from "../define.js";

/** A later split must beat an earlier one by this share of the group's variance: rounding must not decide between equals. */
const MARGIN = 1e-9;

/**
 * Keeps the rows of each group whose scores differ most.
 *
 * Per group of size G: n = max(1, round(keep_fraction · G)), halves to even; of all splits into the a lowest and the n − a highest the one
 * with the largest population variance, the smallest a among equals. `(rows,)` → kept row numbers. Equal scores are in row order.
 * n ≥ G keeps all.
 *
 * Example: one group .1 .9 .5 .4 .6, keep_fraction .5 → n = 2, a = 1 → rows 0 and 1 (variance .16).
 * Source: arXiv 2504.13818 (PODS).
 */
export const maxVariance = defineSelector({
  name: "max_variance",
  requires: ["uid"],
  accepts: "row",
  needs_groups: true,
  rows: "group",
  params: z.strictObject({ keep_fraction: z.number().gt(0).max(1).default(0.5) }),
  doc: {
    summary: "Keeps the part of each group whose scores vary most.",
    formula:
      "per group the a lowest and n-a highest with the largest variance, n = max(1, round_half_even(keep_fraction G))",
    score: "the reward (reward_difficulty)",
    edges: [
      "equal scores are in row order, so a constant group keeps its last n rows",
      "equal variances: the split with fewer low scores",
      "n >= G keeps the whole group",
    ],
    params: { keep_fraction: "share of each group to keep, in (0, 1]; at least one row is kept" },
    source: {
      ref: "arXiv 2504.13818",
      verified: "authors' code read, fixture E7 recomputed",
      differs: "the authors recompute advantages over the kept rows; here the trainer's advantages stay",
    },
  },
  act(scores, batch, { params: { keep_fraction } }) {
    const kept: number[] = [];
    for (const members of batch.groupBy("uid").members()) {
      kept.push(...mostVaried(members, scores.values, shareOf(keep_fraction, members.length)));
    }
    return kept.sort((a, b) => a - b);
  },
});

function mostVaried(members: Int32Array, values: Float64Array, n: number): number[] {
  const rows = [...members].sort((i, j) => Math.fround(values[i]!) - Math.fround(values[j]!) || i - j);
  if (n >= rows.length) return rows;
  // Around the group's mean, squares do not cancel however large the scores are.
  const mean = rows.reduce((sum, i) => sum + values[i]!, 0) / rows.length;
  const centred = rows.map((i) => values[i]! - mean);
  const margin = MARGIN * variance(centred);
  let best = rows.slice(rows.length - n);
  let most = variance(centred.slice(rows.length - n));
  for (let a = 1; a <= n; a++) {
    const split = [...centred.slice(0, a), ...centred.slice(rows.length - n + a)];
    const spread = variance(split);
    if (spread > most + margin) {
      most = spread;
      best = [...rows.slice(0, a), ...rows.slice(rows.length - n + a)];
    }
  }
  return best;
}

function variance(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
}
