import { z } from "zod";
import { defineSelector } from "../define.js";

/**
 * Drops tokens whose probability differs too much between training policy and rollout engine, in either direction.
 *
 * Keep (i,t) iff |s[i,t]| ≤ delta. `(rows, L)` → 0/1 mask `(rows, L)`. Compared as float32.
 *
 * Example: s = [[0.05, −0.1, 0.3]], delta 0.1 → 1, 1, 0.
 * Source: prime-rl, the loss "ipo".
 */
export const tvGate = defineSelector({
  name: "tv_gate",
  accepts: "token",
  rows: "independent",
  params: z.strictObject({ delta: z.number().min(0).default(0.1) }),
  doc: {
    summary: "Drops tokens whose probability differs too much between training policy and rollout engine.",
    formula: "keep (i,t) iff |s[i,t]| <= delta",
    score: "the difference of probabilities (prob_diff)",
    edges: [
      "a value equal to the bound is kept; compared as float32",
      "kept tokens weigh 1, so a token mean divides by all tokens; the run's rescale: token divides by the kept ones",
      "nothing within delta: on_empty decides",
      "geo_mean losses collapse on rows with a zero weight: not for them",
    ],
    params: { delta: "largest difference of the two probabilities, ≥ 0" },
    source: {
      ref: "prime-rl loss.py ipo_loss_fn (ipo_threshold 0.1)",
      verified: "prime-rl's code read",
      differs:
        "prime-rl compares the current policy, inside the loss; here it is the policy before the update. The KL term there still counts dropped tokens",
    },
  },
  act: (difference, _batch, { params: { delta } }) =>
    difference.map((value) => Number(Math.fround(Math.abs(value)) <= Math.fround(delta))),
});
