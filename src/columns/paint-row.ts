import { DataflexError } from "../errors.js";
import { type Bits, bitsOf, copyBits } from "./bytes.js";
import type { NumericArray } from "./dtypes.js";
import { bitsOfOne } from "./one.js";
import { type Spans, spansOf } from "./spans.js";
import type { Layout, TokenColumn } from "./tensor.js";

/**
 * Writes the tokens in scope of one row of a column into `out`, whose elements `[base, base + width)` are zero, by bits. `row` counts
 * in the column, `spansRow` in the spans (they differ when the column holds some of a step's rows).
 */
export function paintRow(
  column: TokenColumn,
  spans: Spans,
  row: number,
  spansRow: number,
  out: Bits,
  base: number,
): void {
  const from = spans.offsets[spansRow]!;
  const to = spans.offsets[spansRow + 1]!;
  switch (column.kind) {
    case "dense": {
      const bits = bitsOf(column.values);
      const start = row * column.width;
      for (let k = from; k < to; k++) {
        const stop = Math.min(spans.bounds[2 * k + 1]!, column.width);
        const begin = Math.min(spans.bounds[2 * k]!, stop);
        copyBits(bits, start + begin, start + stop, out, base + begin);
      }
      return;
    }
    case "jagged": {
      const bits = bitsOf(column.values);
      const held = column.offsets[row + 1]! - column.offsets[row]!;
      if (held !== spans.counts[spansRow]) disagree(row, held, spans.counts[spansRow]!);
      let at = column.offsets[row]!;
      for (let k = from; k < to; k++) {
        const begin = spans.bounds[2 * k]!;
        const length = spans.bounds[2 * k + 1]! - begin;
        copyBits(bits, at, at + length, out, base + begin);
        at += length;
      }
      return;
    }
    case "row": {
      const value = bitsOf(column.values)[row]!;
      for (let k = from; k < to; k++) out.fill(value, base + spans.bounds[2 * k]!, base + spans.bounds[2 * k + 1]!);
      return;
    }
    case "last":
      if (to > from) out[base + spans.bounds[2 * to - 1]! - 1] = bitsOf(column.values)[row]!;
      return;
    case "sparse": {
      const bits = bitsOf(column.values);
      for (let k = column.offsets[row]!; k < column.offsets[row + 1]!; k++) out[base + column.index[k]!] = bits[k]!;
      return;
    }
    case "lengths":
      out.fill(bitsOfOne(column.dtype), base, base + column.lengths[row]!);
      return;
    case "runs": {
      const one = bitsOfOne(column.dtype);
      for (let k = column.offsets[row]!; k < column.offsets[row + 1]!; k++) {
        out.fill(one, base + column.bounds[2 * k]!, base + column.bounds[2 * k + 1]!);
      }
    }
  }
}

/** The tokens in scope of one row, in their order, written to `out` from `at` on. */
export function gatherRow(
  column: TokenColumn,
  spans: Spans,
  row: number,
  spansRow: number,
  scratch: NumericArray,
  out: NumericArray,
  at: number,
): void {
  const bits = bitsOf(scratch);
  scratch.fill(0);
  paintRow(column, spans, row, spansRow, bits, 0);
  const to = bitsOf(out);
  for (let k = spans.offsets[spansRow]!; k < spans.offsets[spansRow + 1]!; k++) {
    copyBits(bits, spans.bounds[2 * k]!, spans.bounds[2 * k + 1]!, to, at + spans.before[k]!);
  }
}

/** The tokens of a column's scope, in a step that may be wider than the column. */
export function tokenSpans(column: TokenColumn, layout: Layout): Spans {
  const lengths = column.responseLengths ?? layout.lengths ?? new Int32Array(layout.rows).fill(column.width);
  const width = Math.max(layout.width, column.width);
  return spansOf(column.scope, { ...layout, width }, column.kind, lengths);
}

function disagree(row: number, held: number, inScope: number): never {
  throw new DataflexError(
    "DECODE",
    `A jagged column holds ${held} tokens in row ${row}, and the step's layout has ${inScope} in scope there.`,
    { row, held, inScope },
  );
}
