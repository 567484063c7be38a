import { z } from "zod";
import { defineSelector } from "../define.js";

/**
 * Drops bad responses that the policy would hardly give any more: pushing them down further teaches nothing and can destabilise.
 *
 * Drop row i iff its mean advantage is below 0 and −ln s_i > delta, s the geometric mean ratio: mean over tokens of rollout log-prob minus
 * old log-prob. `(rows,)` → kept row numbers. Compared as float32.
 *
 * Example: s = 0.5, 0.5, 0.99, A = −1, 1, −1, delta 0.1 → rows 1 and 2.
 * Source: off-policy sequence masking, arXiv 2512.02556.
 */
export const opsm = defineSelector({
  name: "opsm",
  requires: ["advantages", "response_mask"],
  accepts: "row",
  timing: "post_advantage",
  rows: "independent",
  params: z.strictObject({ delta: z.number().min(0).default(1e-4) }),
  doc: {
    summary: "Drops responses with a negative advantage that the training policy has moved away from.",
    formula: "drop i iff mean over t of A[i,t] < 0 and -ln s_i > delta",
    score: "the geometric mean ratio (geo_is_ratio): -ln s is the mean of rollout_log_probs - old_log_probs",
    edges: [
      "advantages of 0 and above always stay",
      "a value equal to the bound is kept; compared as float32",
      "dropped rows are counted (rows_off_policy)",
      "every row dropped: on_empty decides",
    ],
    params: { delta: "mean difference of the log-probs from which a row is dropped, ≥ 0; slime 1e-4, TRL has none" },
    source: {
      ref: "arXiv 2512.02556 (DeepSeek-V3.2); TRL get_off_policy_mask (off_policy_mask_threshold); slime ppo_utils.py (opsm_delta)",
      verified: "both codes read",
      differs:
        "both take the current policy, inside the loss; here it is the policy before the update. slime looks at each token's own advantage, here the row's mean decides",
    },
  },
  act(ratio, batch, ctx) {
    const isBad = batch.field("advantages").mean().lt(0);
    const isFar = ratio.log().mul(-1).gt(ctx.params.delta);
    const dropped = isBad.and(isFar);
    ctx.count("rows_off_policy", dropped.sum());
    return dropped.not().nonzero();
  },
});
