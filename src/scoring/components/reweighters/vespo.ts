import { z } from "zod";
import { defineReweighter } from "../define.js";

/** Bounds of the ratio's logarithm, TRL's. */
const [LEAST, MOST] = [Math.log(1e-8), 20];

/**
 * Soft trust region over whole responses: full weight where the two policies agree, less the further apart they are.
 *
 * φ(w) = e^λ · w^k · e^(−λ w), w = s_i clamped to [1e-8, e^20]; (k, λ) = (k_pos, lambda_pos) for advantages of 0 and above, else (k_neg,
 * lambda_neg). φ(1) = 1; its peak is at w = k / λ. `(rows,)` → `(rows,)`, w ≥ 0.
 *
 * Example: s = 1, 2, 2, A = 1, 1, −1 → 1, 0.199148, 1.082682.
 * Source: arXiv 2602.10693; TRL.
 */
export const vespo = defineReweighter({
  name: "vespo",
  requires: ["advantages", "response_mask"],
  accepts: "row",
  timing: "post_advantage",
  self_normalized: true,
  in_log_space: true,
  rows: "independent",
  params: z.strictObject({
    k_pos: z.number().min(0).default(2),
    lambda_pos: z.number().min(1e-4).default(3),
    k_neg: z.number().min(0).default(3),
    lambda_neg: z.number().min(1e-4).default(2),
  }),
  doc: {
    summary: "Gamma-shaped weight of the response's ratio: a soft trust region.",
    formula:
      "w_i = e^lambda s_i^k e^(-lambda s_i); (k, lambda) = (k_pos, lambda_pos) if mean over t of A[i,t] >= 0, else (k_neg, lambda_neg)",
    score: "the response's ratio (seq_is_ratio)",
    edges: [
      "a ratio of 1 weighs 1, whatever the advantage",
      "ln s is clamped to [ln 1e-8, 20]",
      "a ratio far above 1 weighs 0; a step of only such ratios is flagged as all_zero",
      "not normalised unless asked for: the weights are exact as they are",
    ],
    params: {
      k_pos: "power of the ratio for advantages of 0 and above, ≥ 0",
      lambda_pos: "decay with the ratio for them, ≥ 1e-4",
      k_neg: "power of the ratio for negative advantages, ≥ 0",
      lambda_neg: "decay with the ratio for them, ≥ 1e-4",
    },
    source: {
      ref: "arXiv 2602.10693; TRL grpo_trainer.py get_gamma_weights (vespo_k_pos, vespo_lambda_pos, vespo_k_neg, vespo_lambda_neg)",
      verified: "TRL's code read, the paper not",
      differs:
        "the ratio there is of the current policy, inside the loss; here it is of the policy before the update over the rollout engine. The loss there clips nothing else",
    },
  },
  act(ratio, batch, { params }) {
    const advantage = batch.field("advantages").mean();
    return ratio.map((s, a) => {
      const [k, lambda] = a! >= 0 ? [params.k_pos, params.lambda_pos] : [params.k_neg, params.lambda_neg];
      const log = Math.min(Math.max(Math.log(s), LEAST), MOST);
      return lambda + k * log - lambda * Math.exp(log);
    }, advantage);
  },
});
