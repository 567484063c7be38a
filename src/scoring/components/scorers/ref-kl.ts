import { z } from "zod";
import { defineScorer } from "../define.js";
import { LOG_RATIO_BOUND } from "./log-ratio.js";

/**
 * How far each token has moved away from the reference policy: the low-variance estimate of the KL divergence.
 *
 * s[i,t] = exp(d) − 1 − d, d = clip(ref_log_prob[i,t] − old_log_probs[i,t], −20, 20). `(rows, L)` → `(rows, L)`, s ≥ 0.
 * Tokens under mask 0 have no score. d = 0 → 0.
 *
 * Example: old = [[ln 0.5]], ref = [[ln 0.25]] → d = −ln 2 → 0.193147.
 * Source: J. Schulman, "Approximating KL divergence" (k3); verl's low_var_kl.
 */
export const refKl = defineScorer({
  name: "ref_kl",
  requires: ["old_log_probs", "ref_log_prob", "response_mask"],
  timing: "post_advantage",
  granularity: "token",
  rows: "independent",
  params: z.strictObject({}),
  doc: {
    summary: "Low-variance estimate of each token's KL divergence from the reference policy.",
    formula: "s[i,t] = exp(d) - 1 - d, d = clip(ref_log_prob[i,t] - old_log_probs[i,t], -20, 20)",
    edges: [
      "equal log-probs score 0; small differences keep their digits (d^2/2)",
      "tokens under mask 0 have no score and are never read",
      "needs a reference policy (verl: use_kl_loss or use_kl_in_reward)",
    ],
    source: {
      ref: "Schulman 2020, k3; verl core_algos.py low_var_kl",
      verified: "verl's code read",
      differs: "verl clamps the estimate itself to ±10",
    },
  },
  score: (batch) =>
    batch
      .field("ref_log_prob")
      .sub(batch.field("old_log_probs"))
      .clip(-LOG_RATIO_BOUND, LOG_RATIO_BOUND)
      .map((d) => (Math.abs(d) < SMALL ? series(d) : Math.expm1(d) - d)),
});

/** Below it expm1(d) − d would lose half of its digits to cancellation, and the series' first omitted term is under 1e-14. */
const SMALL = 1e-2;

function series(d: number): number {
  return ((d * d) / 2) * (1 + (d / 3) * (1 + (d / 4) * (1 + (d / 5) * (1 + (d / 6) * (1 + d / 7)))));
}
