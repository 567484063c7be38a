import { z } from "zod";
import type { Batch } from "../../batch/batch.js";
import { defineScorer } from "../define.js";
import { LOG_RATIO_BOUND, logRatio, RATIO_FIELDS } from "./log-ratio.js";

/**
 * Geometric mean of the token ratios over each turn of a response.
 *
 * A turn is a run of tokens with mask 1. s[i,t] = exp(mean over the turn of t of (old_log_probs − rollout_log_probs)). `(rows, L)` →
 * `(rows, L)`, equal within a turn. The mean is clamped to ±20. A response of one turn gives geo_is_ratio at every token.
 *
 * Example: mask 1 1 0 1, ratios 2, 0.5, –, 3 → 1, 1, –, 3.
 * Source: ROLL, importance weights at segment level.
 */
export const segmentIsRatio = defineScorer({
  name: "segment_is_ratio",
  requires: RATIO_FIELDS,
  timing: "post_advantage",
  granularity: "token",
  rows: "independent",
  params: z.strictObject({}),
  doc: {
    summary: "Geometric mean of the token ratios between training policy and rollout engine over each turn.",
    formula:
      "s[i,t] = exp(mean over u in the turn of t of (old_log_probs - rollout_log_probs)[i,u]); a turn: neighbouring tokens with m[i,u] = 1",
    edges: [
      "a response of one turn: the geometric mean of the whole response at each of its tokens",
      "a mean beyond ±20 is clamped",
      "tokens under mask 0 have no score and are never read; they end a turn",
      "needs log-probs from the rollout engine (verl: rollout.calculate_log_probs); in bypass mode every ratio is 1",
    ],
    source: {
      ref: "ROLL train_infer_corrections.py (weight_type, agg_type: segment)",
      verified: "ROLL's code read",
      differs: "ROLL adds 1e-8 to a turn's number of tokens and does not clamp the mean",
    },
  },
  score: (batch) => batch.tokens(turnMeans(batch).map(ratioOf)),
});

/** Mean log ratio of each unmasked token's turn. */
function turnMeans(batch: Batch): Float64Array {
  const means = logRatio(batch).toArray();
  const { tokenStarts } = batch;
  const columns = batch.tokenColumns();
  for (let row = 0; row < batch.rows; row++) {
    let from = tokenStarts[row]!;
    const end = tokenStarts[row + 1]!;
    while (from < end) {
      let sum = 0;
      let to = from;
      do sum += means[to++]!;
      while (to < end && columns[to] === columns[to - 1]! + 1);
      means.fill(sum / (to - from), from, to);
      from = to;
    }
  }
  return means;
}

/** Infinite stays infinite: a log-prob that is no number must not pass for a large ratio. */
function ratioOf(mean: number): number {
  if (!Number.isFinite(mean)) return mean;
  return Math.exp(Math.min(Math.max(mean, -LOG_RATIO_BOUND), LOG_RATIO_BOUND));
}
