import { bitsOf, bytesOf } from "../bytes.js";
import { DTYPE_ARRAYS } from "../dtypes.js";
import type { Spans } from "../spans.js";
import type { SparseColumn } from "../tensor.js";
import type { TokenSource } from "../token-source.js";
import { offsetsOf, readI32, readPerRow, readResponseLengths } from "./integers.js";
import { type DecodeInput, malformed, type Parts } from "./part.js";
import { byOffsets, readValues } from "./values.js";

/** How many tokens in scope are not +0; stops counting above `budget`. */
export function countSparse(source: TokenSource, spans: Spans, budget: number): number {
  let count = 0;
  for (let i = 0; i < spans.rows && count <= budget; i++) {
    const base = source.starts[i]!;
    for (let k = spans.offsets[i]!; k < spans.offsets[i + 1]!; k++) {
      count += source.countNonZero(base + spans.bounds[2 * k]!, base + spans.bounds[2 * k + 1]!);
    }
  }
  return count;
}

/** `sparse`: how many per row, their positions in the row, their values. `nonZero` from `countSparse`. */
export function encodeSparse(source: TokenSource, spans: Spans, nonZero: number): Parts {
  const counts = new Int32Array(spans.rows);
  const index = new Int32Array(nonZero);
  const values = new DTYPE_ARRAYS[source.dtype](nonZero);
  const from = bitsOf(source.data);
  const to = bitsOf(values);
  let at = 0;
  for (let i = 0; i < spans.rows; i++) {
    const before = at;
    const base = source.starts[i]!;
    for (let k = spans.offsets[i]!; k < spans.offsets[i + 1]!; k++) {
      for (let j = spans.bounds[2 * k]!; j < spans.bounds[2 * k + 1]!; j++) {
        if (source.isZero(base + j)) continue;
        index[at] = j;
        to[at++] = from[base + j]!;
      }
    }
    counts[i] = at - before;
  }
  return [
    ["counts", bytesOf(counts)],
    ["index", bytesOf(index)],
    ["values", bytesOf(values)],
  ];
}

export function decodeSparse(input: DecodeInput): SparseColumn {
  const { name, dtype, rows, width, scope } = input;
  const offsets = offsetsOf(name, readPerRow(input, "counts", width));
  const index = readI32(input, "index", offsets[rows]!);
  for (let row = 0; row < rows; row++) {
    let previous = -1;
    for (let k = offsets[row]!; k < offsets[row + 1]!; k++) {
      const position = index[k]!;
      if (position <= previous || position >= width) {
        malformed(name, `index ${position} in row ${row} is not above ${previous} and below ${width}`, { row });
      }
      previous = position;
    }
  }
  const values = readValues(input, offsets[rows]!, byOffsets(offsets, index));
  return { kind: "sparse", dtype, scope, rows, width, ...readResponseLengths(input), offsets, index, values };
}
