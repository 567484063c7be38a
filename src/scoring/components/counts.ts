/** What built-in components and selections count of a step beside their weights, and what that says. Shards add up. */
export const COMPONENT_COUNTS = {
  groups_dropped: "groups dropped whole",
  groups_dropped_reward: "sum of their mean scores: over groups_dropped it is the level at which they were dropped",
  rows_kept_when_short: "rejected rows that stayed, because fewer than keep_when_short were kept",
  rows_off_policy: "bad rows that the policy has moved away from",
  rows_ratio_clamped: "rows whose log ratio was held at its bound",
  rows_reward_outside_mask: "rows with reward outside the mask",
  rows_stale: "rows of a policy older than the one that trains",
  rows_vetoed: "rows dropped for a single token",
  staleness_sum: "sum of the updates that rows are old",
  tokens_dropped: "tokens drawn and dropped",
  tokens_dropped_high: "tokens dropped for having risen too far",
  tokens_dropped_low: "tokens dropped for having fallen too far",
  tokens_eligible: "tokens of which some were dropped",
  tokens_vetoed: "tokens for which rows were dropped",
} as const;
