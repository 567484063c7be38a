import type { OutcomeHeader } from "../../protocol/messages.js";

/** What every step's weights and scores are watched for. Alerts ask for several violations in a row, however long a step takes. */
export const GUARDS = ["ess", "kept", "mean", "nonfinite", "constant_score"] as const;
export type Guard = (typeof GUARDS)[number];

/** A guard is violated below `low` or above `high`. The alert rules use the same numbers. */
export const GUARD_BOUNDS = {
  ess: { low: 0.3 },
  kept: { low: 0.05 },
  mean: { low: 0.5, high: 2 },
} as const;

/** Whether each guard that applies to the outcome is violated; guards that it says nothing about are absent. */
export function violations(header: OutcomeHeader): ReadonlyMap<Guard, boolean> {
  const found = new Map<Guard, boolean>();
  if (header.kind === "failure") {
    if (header.code === "NON_FINITE") found.set("nonfinite", true);
    return found;
  }
  const { stats, score_stats: scores, mechanism, flags, metrics } = header;
  found.set("nonfinite", flags.includes("neutral_nonfinite") || (metrics.rows_dropped_nonfinite ?? 0) > 0);
  if (stats) {
    found.set("kept", stats.kept_ratio < GUARD_BOUNDS.kept.low);
    // Of a selection the effective sample size is the kept share, and its mean too: both are as they were asked for.
    if (mechanism === "reweight") {
      found.set("ess", stats.ess_ratio < GUARD_BOUNDS.ess.low);
      found.set("mean", stats.mean < GUARD_BOUNDS.mean.low || stats.mean > GUARD_BOUNDS.mean.high);
    }
  }
  if (scores && scores.n > 1 && mechanism !== "mix") found.set("constant_score", scores.std === 0);
  return found;
}
