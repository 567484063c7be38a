import { z } from "zod";
import { defineReweighter } from "../define.js";

/**
 * Less weight to improbable tokens.
 *
 * w[i,t] = alpha · s[i,t] + (1 − alpha), with s the token's probability. `(rows, L)` → `(rows, L)`, in [1 − alpha, 1] for s in [0, 1].
 * Every token on its own; mean one over live tokens comes from the default normaliser.
 *
 * Example: s = [.9, .1], alpha = .5 → .95, .55 (after mean one 1.266667, .733333).
 * Source: arXiv 2505.12929, advantage reweighting.
 */
export const advantageReweight = defineReweighter({
  name: "advantage_reweight",
  accepts: "token",
  rows: "independent",
  positive: { param: "alpha", below: 1 },
  params: z.strictObject({ alpha: z.number().min(0).max(1).default(0.5) }),
  doc: {
    summary: "Weight grows linearly with the token's probability.",
    formula: "w[i,t] = alpha s[i,t] + (1 - alpha)",
    score: "the probability of the token (token_prob), in [0, 1]",
    edges: ["alpha 0: weight 1 everywhere", "tokens under mask 0 have weight 0 and count in no normaliser"],
    params: { alpha: "share of the weight that follows the probability, in [0, 1]" },
    source: {
      ref: "arXiv 2505.12929",
      verified: "authors' code read, fixture E4 recomputed",
      differs:
        "the paper does not normalise: use normalize: none for its exact weights; its scripts use alpha 0.2 or 0.3",
    },
  },
  act: (pi, _batch, { params: { alpha } }) => pi.mul(alpha).add(1 - alpha),
});
