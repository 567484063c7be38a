import type { Batch } from "../../batch/batch.js";
import type { RowVector } from "../../batch/row-vector.js";
import type { TokenField } from "../../batch/token-field.js";
import type { Context } from "../component-types.js";

/** Logarithms of ratios are clamped to ± this before exp, as verl does: exp(20) is 4.9e8, and no product of weights overflows. */
export const LOG_RATIO_BOUND = 20;

/** Fields of every scorer of the ratio between the policy that trains and the engine that sampled. */
export const RATIO_FIELDS = ["old_log_probs", "rollout_log_probs", "response_mask"] as const;

/** old_log_probs − rollout_log_probs, `(rows, L)`. */
export function logRatio(batch: Batch): TokenField {
  return batch.field("old_log_probs").sub(batch.field("rollout_log_probs"));
}

/**
 * exp of a row's log ratio, clamped to the bound. Rows beyond it are counted (`rows_ratio_clamped`), and by how much in sum
 * (`log_ratio_clamped_excess`): a ratio that the bound made says nothing of its own size any more.
 */
export function boundedRatio(log: RowVector, batch: Batch, ctx: Context<unknown>): RowVector {
  const excess = log.values
    .filter((_, i) => batch.live[i] === 1)
    .map((value) => Math.abs(value) - LOG_RATIO_BOUND)
    .filter((value) => value > 0);
  ctx.count("rows_ratio_clamped", excess.length);
  ctx.count(
    "log_ratio_clamped_excess",
    excess.reduce((sum, value) => sum + value, 0),
  );
  if (excess.length > 0) {
    ctx.warn(
      `some rows' log ratios lie beyond ±${LOG_RATIO_BOUND} and were clamped (metrics rows_ratio_clamped, ` +
        "log_ratio_clamped_excess): policy and rollout engine disagree by far",
    );
  }
  return log.clip(-LOG_RATIO_BOUND, LOG_RATIO_BOUND).exp();
}
