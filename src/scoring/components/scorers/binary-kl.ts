import { z } from "zod";
import { defineScorer } from "../define.js";
import { RATIO_FIELDS } from "./log-ratio.js";

/** verl's guard of both logarithms' arguments. */
const EPSILON = 1e-8;

/**
 * Divergence between rollout engine and training policy at a token, of the two outcomes "this token" and "another one".
 *
 * With μ = exp(rollout_log_probs), π = exp(old_log_probs): d = μ (ln μ − ln π) + (1 − μ) ln((1 − μ + 1e-8) / (1 − π + 1e-8)); s = d where the
 * token became more likely (π > μ), −d where less. `(rows, L)` → `(rows, L)`. The sign is what lets `signed_gate` judge by direction.
 *
 * Example: μ = 0.5, π = 0.25 → −0.143841; μ = 0.25, π = 0.5 → 0.130812.
 * Source: verl dppo_kl; arXiv 2602.04879.
 */
export const binaryKl = defineScorer({
  name: "binary_kl",
  requires: RATIO_FIELDS,
  timing: "post_advantage",
  granularity: "token",
  rows: "independent",
  params: z.strictObject({}),
  doc: {
    summary:
      "Binary KL divergence of each token from the rollout engine to the training policy, negative where it became less likely.",
    formula:
      "mu = exp(rollout_log_probs), pi = exp(old_log_probs)\nd = mu (ln mu - ln pi) + (1 - mu) ln((1 - mu + 1e-8) / (1 - pi + 1e-8))\ns[i,t] = d if pi > mu else -d",
    edges: [
      "equal probabilities give 0",
      "a log-prob above 0, which rounding can leave, counts as probability 1 in 1 - mu and 1 - pi",
      "tokens under mask 0 have no score and are never read",
      "needs log-probs from the rollout engine (verl: rollout.calculate_log_probs); in bypass mode every score is 0",
    ],
    source: {
      ref: "verl core_algos.py dppo_kl; arXiv 2602.04879",
      verified: "verl's code read",
      differs:
        "verl takes the current policy, which changes while a batch is trained on; here it is the policy before the update. The sign is ours",
    },
  },
  score: (batch) => batch.field("old_log_probs").map(signedDivergence, batch.field("rollout_log_probs")),
});

function signedDivergence(policy: number, engine: number): number {
  const [pi, mu] = [Math.exp(policy), Math.exp(engine)];
  const rest = (probability: number) => Math.max(1 - probability, 0) + EPSILON;
  const divergence = mu * (engine - policy) + Math.max(1 - mu, 0) * Math.log(rest(mu) / rest(pi));
  return pi > mu ? divergence : -divergence;
}
