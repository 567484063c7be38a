import { z } from "zod";
import { shareOf } from "../../batch/rounding.js";
import { defineSelector } from "../define.js";

/**
 * Keeps a fraction of the batch, the best by score.
 *
 * k = max(1, round(fraction · n)) of the n live rows, halves to even; the k highest (lowest with `largest: false`). `(rows,)` → kept
 * row numbers. Equal scores: the lower row first. Padding rows never compete.
 *
 * Example: s = 3, 1, 4, 1, 5, fraction .5 → k = 2, rows 2 and 4.
 * Source: DataFlex-RL selectors.py.
 */
export const topkFraction = defineSelector({
  name: "topk_fraction",
  accepts: "row",
  rows: "batch",
  params: z.strictObject({ fraction: z.number().gt(0).max(1).default(0.5), largest: z.boolean().default(true) }),
  doc: {
    summary: "Keeps the best fraction of the batch by score.",
    formula: "k = max(1, round_half_even(fraction n)); keep the k highest",
    score: "any row score",
    edges: ["equal scores (as float32): the lower row first", "padding and fully masked rows never compete"],
    params: {
      fraction: "share of the live rows to keep, in (0, 1]; at least one row is kept",
      largest: "true keeps the highest scores, false the lowest",
    },
    source: {
      ref: "DataFlex-RL selectors.py",
      verified: "code read, fixture E6 recomputed",
      differs: "ties are settled by row number; padding rows do not compete",
    },
  },
  act: (scores, _batch, { params: { fraction, largest } }) =>
    scores.rank({ largest }).lt(shareOf(fraction, scores.count())).nonzero(),
});
