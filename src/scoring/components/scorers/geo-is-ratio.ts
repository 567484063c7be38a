import { z } from "zod";
import { defineScorer } from "../define.js";
import { boundedRatio, logRatio, RATIO_FIELDS } from "./log-ratio.js";

/**
 * Geometric mean of a response's token ratios: the sequence ratio, freed of the response's length.
 *
 * s_i = exp(Σ_t (old_log_probs − rollout_log_probs)[i,t] · m[i,t] / V_i), V_i = unmasked tokens. `(rows, L)` → `(rows,)`, s > 0.
 * The mean is clamped to ±20; rows beyond are counted and warned about. A fully masked row gives 1.
 *
 * Example: ratios of the tokens 3, 1, 1 → 1.442250; 1, 4 → 2.
 * Source: verl rollout correction, geometric statistic; the length normalisation of GSPO, arXiv 2507.18071.
 */
export const geoIsRatio = defineScorer({
  name: "geo_is_ratio",
  requires: RATIO_FIELDS,
  timing: "post_advantage",
  granularity: "row",
  rows: "independent",
  params: z.strictObject({}),
  doc: {
    summary: "Geometric mean of the response's token ratios between training policy and rollout engine.",
    formula: "s_i = exp(sum over t with m[i,t]=1 of (old_log_probs - rollout_log_probs)[i,t] / V_i)",
    edges: [
      "a mean beyond ±20 is clamped, counted (rows_ratio_clamped, log_ratio_clamped_excess) and warned about",
      "a fully masked row scores 1",
      "needs log-probs from the rollout engine (verl: rollout.calculate_log_probs); in bypass mode every ratio is 1",
    ],
    source: {
      ref: "verl rollout_corr_helper.py; arXiv 2507.18071",
      verified: "verl's code read, fixture E12 recomputed",
      differs: "GSPO's ratio is of the current policy, known only inside the loss: this is not GSPO",
    },
  },
  score: (batch, ctx) => boundedRatio(logRatio(batch).mean(), batch, ctx),
});
