import { z } from "zod";
import { defineSelector } from "../define.js";

/**
 * Drops a whole response if the two policies disagree utterly about a single token of it.
 *
 * Drop row i iff some unmasked token has s[i,t] < low or s[i,t] > high. `(rows, L)` → 0/1 mask `(rows, L)`, equal over a row. Compared as
 * float32; null leaves a bound out.
 *
 * Example: ratios [[1, 1e-5], [1, 0.5]], low 1e-4 → 0 0, 1 1.
 * Source: slime's mismatch helper; SkyRL's outlier mask.
 */
export const veto = defineSelector({
  name: "veto",
  accepts: "token",
  rows: "independent",
  params: z.strictObject({
    low: z.number().positive().nullable().default(1e-4),
    high: z.number().positive().nullable().default(null),
  }),
  rules: [{ rule: "at_most", params: ["low", "high"] }],
  doc: {
    summary:
      "Drops responses with even one token whose probability differs by a large factor between training policy and rollout engine.",
    formula: "drop row i iff any s[i,t] < low or s[i,t] > high over t with m[i,t] = 1",
    score: "the token ratio (is_ratio)",
    edges: [
      "scores equal to a bound are kept; compared as float32; null: no bound on that side",
      "the tokens and rows that caused a drop are counted (tokens_vetoed, rows_vetoed)",
      "every row vetoed: on_empty decides",
    ],
    params: {
      low: "ratio below which a token drops its row, > 0; null: none",
      high: "ratio above which a token drops its row, > 0; null: none",
    },
    source: {
      ref: "slime mis.py (rs_veto_threshold, 1e-4 in mis.yaml); SkyRL off_policy_correction_utils.py (outlier_token_is_threshold_low, _high; null there)",
      verified: "both codes read",
    },
  },
  act(ratio, _batch, ctx) {
    const [low, high] = [ctx.params.low ?? 0, ctx.params.high ?? Number.POSITIVE_INFINITY].map(Math.fround) as [
      number,
      number,
    ];
    const outliers = ratio.map((r) => Number(Math.fround(r) < low || Math.fround(r) > high)).sum();
    ctx.count("tokens_vetoed", outliers.sum());
    ctx.count("rows_vetoed", outliers.gt(0).sum());
    return ratio.map((_, n) => Number(n === 0), outliers);
  },
});
