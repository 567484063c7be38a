import { runsOf } from "../columns/span-walks.js";
import type { Spans } from "../columns/spans.js";
import type { TokenWeights, Weights } from "../columns/tensor.js";
import { DataflexError } from "../errors.js";

/**
 * Converts weights over the mask that scoring read to weights over the mask that the loss reads. Rows in `padding` get 0 for each token.
 *
 * @throws DataflexError INVALID_INPUT: masks of different numbers of rows; a live token of the loss that was never scored, with row and
 *   column: its weight is unknown, not 0
 */
export function remask(w: Weights, scored: Spans, loss: Spans, padding?: ArrayLike<number>): Weights {
  if (scored.rows !== loss.rows) {
    throw new DataflexError("INVALID_INPUT", `the loss's mask has ${loss.rows} rows, the weights ${scored.rows}`, {
      rows: loss.rows,
      expected: scored.rows,
    });
  }
  if (w.kind === "row") {
    for (let row = 0; row < loss.rows; row++) {
      if (loss.counts[row]! > 0 && scored.counts[row] === 0 && !padding?.[row]) {
        throw unscored(row, loss.bounds[2 * loss.offsets[row]!]!);
      }
    }
    return w;
  }
  const values = new Float32Array(loss.total);
  for (let row = 0; row < loss.rows; row++) {
    if (!padding?.[row]) copyRow(w, scored, loss, row, values.subarray(loss.starts[row], loss.starts[row + 1]));
  }
  return { kind: "token", offsets: loss.starts, values };
}

function copyRow(w: TokenWeights, scored: Spans, loss: Spans, row: number, into: Float32Array): void {
  const start = w.offsets[row]!;
  const end = scored.offsets[row + 1]!;
  let q = scored.offsets[row]!;
  let at = 0;
  for (const [from, to] of runsOf(loss, row)) {
    for (let t = from; t < to; ) {
      while (q < end && scored.bounds[2 * q + 1]! <= t) q++;
      const begin = q < end ? scored.bounds[2 * q]! : Number.POSITIVE_INFINITY;
      if (t < begin) throw unscored(row, t);
      const stop = Math.min(to, scored.bounds[2 * q + 1]!);
      const k = start + scored.before[q]! - begin;
      into.set(w.values.subarray(k + t, k + stop), at);
      at += stop - t;
      t = stop;
    }
  }
}

function unscored(row: number, column: number): DataflexError {
  return new DataflexError(
    "INVALID_INPUT",
    `row ${row}, column ${column}: the loss's mask has a token here that was masked when the weights were computed. Send the mask that the loss reads`,
    { row, column },
  );
}
