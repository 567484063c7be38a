import { z } from "zod";
import { defineScorer } from "../define.js";
import { boundedRatio, logRatio, RATIO_FIELDS } from "./log-ratio.js";

/**
 * Ratio of a response's probability under the training policy to that under the engine that sampled it.
 *
 * s_i = exp(clip(Σ_t (old_log_probs − rollout_log_probs)[i,t] · m[i,t], −20, 20)). `(rows, L)` → `(rows,)` in [2.1e-9, 4.9e8].
 * The sum is clamped to ±20; rows beyond are counted and warned about. A fully masked row gives 1.
 *
 * Example: ratios of the tokens 3, 1, 1 → 3; 1, 1, 2, 0.5 → 1.
 * Source: verl rollout correction, sequence level.
 */
export const seqIsRatio = defineScorer({
  name: "seq_is_ratio",
  requires: RATIO_FIELDS,
  timing: "post_advantage",
  granularity: "row",
  rows: "independent",
  params: z.strictObject({}),
  doc: {
    summary: "Response's probability under the training policy over that under the rollout engine.",
    formula: "s_i = exp(clip(sum over t with m[i,t]=1 of (old_log_probs - rollout_log_probs)[i,t], -20, 20))",
    edges: [
      "rows whose sum lies beyond ±20 are counted (rows_ratio_clamped, log_ratio_clamped_excess) and warned about: long rows drift there easily",
      "a fully masked row scores 1",
      "needs log-probs from the rollout engine (verl: rollout.calculate_log_probs); in bypass mode every ratio is 1",
    ],
    source: { ref: "verl rollout_corr_helper.py", verified: "verl's code read, fixture E12 recomputed" },
  },
  score: (batch, ctx) => boundedRatio(logRatio(batch).sum(), batch, ctx),
});
