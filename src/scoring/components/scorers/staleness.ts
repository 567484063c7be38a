import { z } from "zod";
import { defineScorer } from "../define.js";

/**
 * How many updates old the weights were that a response was finished with.
 *
 * s_i = max(0, (step − 1) − policy_version_i); step s trains version s − 1. `(rows,)` → `(rows,)`, whole numbers from 0. A response that
 * was sampled under several versions counts as the newest of them.
 *
 * Example: at step 9, versions 8, 6, 3 → 0, 2, 5.
 * Source: verl v1 trainer_base.py, trajectory_staleness.
 */
export const staleness = defineScorer({
  name: "staleness",
  requires: ["policy_version"],
  timing: "post_reward",
  granularity: "row",
  rows: "independent",
  params: z.strictObject({}),
  doc: {
    summary: "Updates between the weights that finished a response and those that train on it.",
    formula: "s_i = max(0, (step - 1) - policy_version_i)",
    edges: [
      "rows of a version newer than step - 1 count as fresh: 0",
      "policy_version is the newest version that a response was sampled with (verl: the tag max_global_steps of a row)",
      "rows staler than 0 are counted (rows_stale), and their staleness summed (staleness_sum)",
    ],
    source: {
      ref: "verl trainer/ppo/v1/trainer_base.py (off_policy/trajectory_staleness)",
      verified: "verl's code read",
      differs:
        "prime-rl counts from the version at dispatch, TRL and NeMo-RL from the one at sampling; verl's own bound counts step - dispatch + 1",
    },
  },
  score(batch, ctx) {
    const lag = batch.column("policy_version").map((version) => Math.max(0, ctx.step - 1 - version));
    ctx.count("rows_stale", lag.gt(0).sum());
    ctx.count("staleness_sum", lag.sum());
    return lag;
  },
});
