import { z } from "zod";
import { defineReweighter } from "../define.js";

/**
 * Less weight to responses of an older policy.
 *
 * w_i = 1 / (s_i + 1), s the updates since. `(rows,)` → `(rows,)` in (0, 1]. All equally old → weight 1 after the default normaliser.
 *
 * Example: s = 0, 1, 3 → 1, 0.5, 0.25.
 * Source: TorchRL, StalenessAwareSampler.
 */
export const stalenessDecay = defineReweighter({
  name: "staleness_decay",
  accepts: "row",
  rows: "independent",
  params: z.strictObject({}),
  doc: {
    summary: "Weight falls with the age of the policy that sampled the response.",
    formula: "w_i = 1 / (s_i + 1)",
    score: "the number of updates since the response was sampled (staleness), ≥ 0",
    edges: [
      "all rows equally old: all weights equal, 1 after the default normaliser",
      "a score of −1 or less is refused (weight not finite, or negative)",
      "normalize: none makes a step of old rows a smaller step",
    ],
    source: {
      ref: "TorchRL StalenessAwareSampler (pytorch/rl pull request 3637)",
      verified: "the default weight read in the pull request's discussion",
      differs: "TorchRL draws rows with this weight; here they are trained on with it",
    },
  },
  act: (lag) => lag.add(1).pow(-1),
});
