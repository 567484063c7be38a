import { z } from "zod";
import { defineSelector } from "../define.js";

/**
 * Drops tokens that have already moved too far in the direction that their advantage pushes them.
 *
 * A[i,t] > 0: keep iff s[i,t] ≤ high; else keep iff s[i,t] ≥ −low. `(rows, L)` → 0/1 mask `(rows, L)`. Compared as float32.
 *
 * Example: s = [[0.3, −0.3, 0.3]], A = [[1, 1, −1]], both bounds 0.2 → 0, 1, 1.
 * Source: arXiv 2602.04879 (DPPO): with prob_diff verl's dppo_tv and prime-rl's default loss, with binary_kl verl's dppo_kl.
 */
export const signedGate = defineSelector({
  name: "signed_gate",
  requires: ["advantages", "response_mask"],
  accepts: "token",
  timing: "post_advantage",
  rows: "independent",
  params: z.strictObject({ low: z.number().min(0).default(0.2), high: z.number().min(0).default(0.2) }),
  doc: {
    summary: "Drops tokens that already moved too far in the direction that their advantage pushes.",
    formula: "A[i,t] > 0: keep iff s[i,t] <= high; else: keep iff s[i,t] >= -low",
    score: "a signed divergence: the difference of probabilities (prob_diff), or binary_kl",
    edges: [
      "an advantage of 0 is judged as a negative one, as in the sources; its gradient is 0 either way",
      "scores equal to a bound are kept; compared as float32",
      "dropped tokens are counted by direction (tokens_dropped_high, tokens_dropped_low)",
      "nothing within the bounds: on_empty decides",
      "geo_mean losses collapse on rows with a zero weight: not for them",
    ],
    params: {
      low: "how far a token with a negative advantage may have fallen, ≥ 0",
      high: "how far a token with a positive advantage may have risen, ≥ 0",
    },
    source: {
      ref: "arXiv 2602.04879; verl core_algos.py dppo_tv, dppo_kl; prime-rl loss.py default_loss_fn (dppo_mask_low, dppo_mask_high 0.2)",
      verified: "both codes read",
      differs:
        "the losses there compare the current policy, which changes while a batch is trained on; here it is the policy before the update",
    },
  },
  act(divergence, batch, ctx) {
    const { low, high } = ctx.params;
    const advantages = batch.field("advantages");
    const isHigh = divergence.map((s, a) => Number(a! > 0 && Math.fround(s) > Math.fround(high)), advantages);
    const isLow = divergence.map((s, a) => Number(!(a! > 0) && Math.fround(s) < Math.fround(-low)), advantages);
    ctx.count("tokens_dropped_high", isHigh.sum().sum());
    ctx.count("tokens_dropped_low", isLow.sum().sum());
    return isHigh.map((above, below) => Number(above === 0 && below === 0), isLow);
  },
});
