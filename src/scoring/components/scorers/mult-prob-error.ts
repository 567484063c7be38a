import { z } from "zod";
import { defineScorer } from "../define.js";
import { LOG_RATIO_BOUND, logRatio, RATIO_FIELDS } from "./log-ratio.js";

/**
 * How far, on average, the two policies' probabilities of a response's tokens are apart, as a factor.
 *
 * s_i = mean over t with m[i,t]=1 of exp|old_log_probs − rollout_log_probs|[i,t]. `(rows, L)` → `(rows,)`, s ≥ 1; 1 where the two agree. A
 * fully masked row gives 0.
 *
 * Example: ratios 2, 0.5, 1 → (2 + 2 + 1) / 3 = 1.666667.
 * Source: NeMo-RL, seq_logprob_error_threshold.
 */
export const multProbError = defineScorer({
  name: "mult_prob_error",
  requires: RATIO_FIELDS,
  timing: "post_advantage",
  granularity: "row",
  rows: "independent",
  params: z.strictObject({}),
  doc: {
    summary: "Mean factor between a response's token probabilities under training policy and rollout engine.",
    formula: "s_i = mean over t with m[i,t]=1 of exp |old_log_probs - rollout_log_probs|[i,t]",
    edges: [
      "1 where the two agree; a fully masked row scores 0",
      "a token's difference beyond 20 is clamped",
      "one token far off weighs as much as many tokens a little off: for a bound on single tokens use veto",
      "needs log-probs from the rollout engine (verl: rollout.calculate_log_probs); in bypass mode every score is 1",
    ],
    source: {
      ref: "NeMo-RL grpo.py (seq_logprob_error_threshold, mult_prob_error)",
      verified: "NeMo-RL's code read",
      differs:
        "NeMo-RL does not clamp a token's difference. It keeps rows up to the threshold: threshold_band with closed: both",
    },
  },
  score: (batch) => logRatio(batch).abs().clip(0, LOG_RATIO_BOUND).exp().mean(),
});
