import { z } from "zod";
import { defineSelector } from "../define.js";
import { topTokens } from "../top-tokens.js";

/**
 * Keeps the tokens at which the policy was least certain.
 *
 * Keep token (i,t) iff s[i,t] ≥ the (1 − fraction) quantile of all unmasked tokens of the batch. `(rows, L)` → 0/1 mask `(rows, L)`.
 * Ties at the threshold are in (as float32). All equal → every token. Kept tokens weigh 1: a token mean still divides by all of them,
 * unless the run sets `rescale: token`.
 *
 * Example: s = [[.1, .9], [1.6, 1]], fraction .25 → threshold 1.15 → only 1.6 stays.
 * Source: arXiv 2506.01939.
 */
export const entropyTopkSelector = defineSelector({
  name: "entropy_topk",
  accepts: "token",
  rows: "batch",
  params: z.strictObject({ fraction: z.number().gt(0).max(1).default(0.2) }),
  doc: {
    summary: "Keeps the tokens at which the policy was least certain.",
    formula: "keep (i,t) iff s[i,t] >= quantile(1 - fraction) of s over all unmasked tokens of the batch",
    score: "the entropy (token_entropy)",
    edges: [
      "ties at the threshold are kept, compared as float32; all scores equal keep every token",
      "kept tokens weigh 1, so a token mean divides by all tokens; the run's rescale: token divides by the kept ones",
      "kept_frac and kept_tokens count tokens",
      "geo_mean losses collapse on rows with a zero weight: not for them",
    ],
    params: { fraction: "share of the batch's tokens to keep, in (0, 1]" },
    source: {
      ref: "arXiv 2506.01939 (80/20 rule); TRL top_entropy_quantile",
      verified:
        "TRL's code read, fixture E11 recomputed; whether the paper divides by the kept tokens or by all was not verified",
    },
  },
  act: (entropy, _batch, { params: { fraction } }) => topTokens(entropy, fraction),
});
