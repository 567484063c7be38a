import { runsOf } from "../columns/span-walks.js";
import type { Spans } from "../columns/spans.js";
import type { Weights } from "../columns/tensor.js";
import { DataflexError } from "../errors.js";
import { shownValue } from "../redact.js";

/**
 * Weights as `(rows, width)` float32, 0 outside the mask, multiplied by `existing` `rollout_is_weights` (step 5 of a composition).
 *
 * @throws DataflexError INVALID_INPUT for `existing` of another size, or with a value on a live token that is no weight
 */
export function expand(w: Weights, loss: Spans, existing?: ArrayLike<number>): Float32Array {
  const { rows, width } = loss;
  if (existing && existing.length !== rows * width) {
    throw new DataflexError(
      "INVALID_INPUT",
      `existing rollout_is_weights have ${existing.length} elements, the mask ${rows * width}`,
      {},
    );
  }
  const out = new Float32Array(rows * width);
  for (let row = 0; row < rows; row++) {
    let k = w.kind === "token" ? w.offsets[row]! : 0;
    for (const [a, b] of runsOf(loss, row)) {
      const run = out.subarray(row * width + a, row * width + b);
      if (w.kind === "row") run.fill(w.values[row]!);
      else run.set(w.values.subarray(k, k + run.length));
      k += run.length;
      if (!existing) continue;
      for (let t = a; t < b; t++)
        out[row * width + t] = corrected(out[row * width + t]!, existing[row * width + t], row, t);
    }
  }
  return out;
}

/** @throws DataflexError INVALID_INPUT for an existing value that is no weight, or if the product exceeds float32 */
function corrected(weight: number, existing: unknown, row: number, column: number): number {
  const right = typeof existing === "number" && existing >= 0 && Number.isFinite(existing);
  const product = right ? Math.fround(weight * existing) : Number.NaN;
  if (Number.isFinite(product)) return product;
  throw new DataflexError(
    "INVALID_INPUT",
    right
      ? `row ${row}, column ${column}: the existing rollout_is_weights ${existing} times ${weight} is beyond float32`
      : `row ${row}, column ${column}: the existing rollout_is_weights is ${shownValue(existing)}; a weight is a finite number from 0`,
    { row, column },
  );
}
