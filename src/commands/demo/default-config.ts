/**
 * What the demo mounts when no `--config` is given: three pipelines over both stages, multiplied together.
 *
 * - `difficulty` drops groups that are all right or all wrong: their advantages are 0, they teach nothing.
 * - `magnitude` emphasises the rows whose outcome was a surprise within their group. Early on those are the rare successes, so
 *   the weighted run also takes larger steps in the direction of what worked.
 * - `confidence` damps tokens that the policy itself thought unlikely.
 */
export const DEFAULT_DEMO_CONFIG = {
  pipelines: {
    difficulty: {
      mechanism: "select",
      scorer: { name: "group_solve_rate", params: { success_threshold: 0.5 } },
      actuator: { name: "threshold_band", params: { low: 0, high: 1 } },
    },
    magnitude: {
      mechanism: "reweight",
      scorer: { name: "advantage_magnitude" },
      actuator: { name: "softmax", params: { temperature: 1 } },
    },
    confidence: {
      mechanism: "reweight",
      scorer: { name: "token_prob" },
      actuator: { name: "advantage_reweight", params: { alpha: 0.5 } },
    },
  },
} as const;
