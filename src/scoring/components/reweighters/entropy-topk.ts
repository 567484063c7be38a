import { z } from "zod";
import { defineReweighter } from "../define.js";
import { topTokens } from "../top-tokens.js";

/**
 * Weight only for the tokens at which the policy was least certain.
 *
 * w[i,t] = 1 if s[i,t] ≥ the (1 − fraction) quantile of all unmasked tokens of the batch, else 0. `(rows, L)` → `(rows, L)`.
 * Ties at the threshold are in (as float32). All equal → every token. With the default normaliser (mean one over tokens) the kept tokens
 * weigh as much as all did; with `normalize: none` a token mean still divides by all tokens.
 *
 * Example: s = [[.1, .9], [1.6, 1]], fraction .25 → threshold 1.15 → only 1.6 has weight: 1 raw, 4 after mean one.
 * Source: arXiv 2506.01939.
 */
export const entropyTopkReweighter = defineReweighter({
  name: "entropy_topk",
  accepts: "token",
  rows: "batch",
  params: z.strictObject({ fraction: z.number().gt(0).max(1).default(0.2) }),
  doc: {
    summary: "Weight only for the tokens at which the policy was least certain.",
    formula: "w[i,t] = [s[i,t] >= quantile(1 - fraction) of s over all unmasked tokens of the batch]",
    score: "the entropy (token_entropy)",
    edges: [
      "ties at the threshold are kept, compared as float32; all scores equal keep every token",
      "default normalize: token divides by the kept tokens; normalize: none by all",
      "geo_mean losses collapse on rows with a zero weight: not for them",
    ],
    params: { fraction: "share of the batch's tokens to keep, in (0, 1]" },
    source: {
      ref: "arXiv 2506.01939 (80/20 rule); TRL top_entropy_quantile",
      verified:
        "TRL's code read, fixture E11 recomputed; whether the paper divides by the kept tokens or by all was not verified",
      differs: "TRL divides by all tokens, which is normalize: none here",
    },
  },
  act: (entropy, _batch, { params: { fraction } }) => topTokens(entropy, fraction),
});
