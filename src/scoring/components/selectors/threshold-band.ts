import { z } from "zod";
import { defineSelector } from "../define.js";

/**
 * Keeps the rows whose score lies in a band.
 *
 * Keep i iff low < s_i < high; `closed` says which ends belong to the band. `(rows,)` → kept row numbers. Both sides are compared as
 * float32, so a rate of 1/5 is outside a strict band from 0.2. Nothing in the band → nothing kept (`on_empty` decides).
 *
 * Example: s = 0, .2, .4, .6, .8, 1, band .2–.8 → strict keeps .4 .6, closed both keeps .2 .4 .6 .8.
 * Source: arXiv 2503.14476 with group_solve_rate and (0, 1); arXiv 2504.03380 with 0.2 and 0.8.
 */
export const thresholdBand = defineSelector({
  name: "threshold_band",
  accepts: "row",
  rows: "independent",
  params: z.strictObject({
    low: z.number().default(0),
    high: z.number().default(1),
    closed: z.enum(["none", "both", "low", "high"]).default("none"),
  }),
  rules: [{ rule: "at_most", params: ["low", "high"] }],
  doc: {
    summary: "Keeps rows whose score lies between two thresholds.",
    formula: "keep i iff low < s_i < high",
    score: "any row score; with (0, 1) the solve rate (group_solve_rate)",
    edges: ["strict at both ends unless closed says otherwise", "both sides are compared as float32"],
    params: {
      low: "lower end of the band",
      high: "upper end of the band",
      closed: "which ends belong to the band: none, both, low or high",
    },
    source: {
      ref: "arXiv 2503.14476; arXiv 2504.03380",
      verified:
        "DataFlex-RL code read, fixture E6 recomputed; that the second paper's band is inclusive was read in its documentation only",
    },
  },
  act(scores, _batch, { params: { low, high, closed } }) {
    const above = closed === "both" || closed === "low" ? scores.ge(low) : scores.gt(low);
    const below = closed === "both" || closed === "high" ? scores.le(high) : scores.lt(high);
    return above.and(below).nonzero();
  },
});
