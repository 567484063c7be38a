import { z } from "zod";
import { defineSelector } from "../define.js";

/**
 * Drops responses of a policy that is too old.
 *
 * Keep i iff s_i ≤ max_staleness. `(rows,)` → kept row numbers. Compared as float32.
 *
 * Example: s = 0, 4, 8, 9, max_staleness 8 → rows 0, 1, 2.
 * Source: the bound of prime-rl, TRL, SkyRL, NeMo-RL.
 */
export const stalenessCutoff = defineSelector({
  name: "staleness_cutoff",
  accepts: "row",
  rows: "independent",
  params: z.strictObject({ max_staleness: z.number().min(0).default(8) }),
  doc: {
    summary: "Drops responses of a policy that is too many updates old.",
    formula: "keep i iff s_i <= max_staleness",
    score: "the number of updates since the response was sampled (staleness)",
    edges: [
      "a value equal to the bound is kept; compared as float32",
      "all rows too old: nothing is kept (on_empty decides)",
      "it drops responses that were sampled already: a bound in the trainer's own queue saves the sampling too",
    ],
    params: {
      max_staleness: "updates that a response may be old, ≥ 0; 8 in prime-rl, 4 in TRL and SkyRL, 1 in NeMo-RL",
    },
    source: {
      ref: "prime-rl max_off_policy_steps; TRL async GRPO max_staleness; SkyRL max_staleness_steps; NeMo-RL max_trajectory_age_steps",
      verified: "the four codes read",
      differs:
        "verl's max_off_policy_threshold compares step - dispatch + 1 and drops whole prompts: max_staleness is that minus one, counted from the newest version",
    },
  },
  act: (lag, _batch, { params: { max_staleness } }) => lag.le(max_staleness).nonzero(),
});
