import { bitsOf, bytesOf } from "../bytes.js";
import { DTYPE_ARRAYS } from "../dtypes.js";
import type { Spans } from "../spans.js";
import type { RowColumn } from "../tensor.js";
import type { TokenSource } from "../token-source.js";
import { readResponseLengths } from "./integers.js";
import type { DecodeInput } from "./part.js";
import { byRow, readValues } from "./values.js";

/** Whether every row is constant, bit for bit, over its tokens in scope. */
export function isRowConstant(source: TokenSource, spans: Spans): boolean {
  for (let i = 0; i < spans.rows; i++) {
    const base = source.starts[i]!;
    const from = spans.offsets[i]!;
    const first = base + (spans.bounds[2 * from] ?? 0);
    for (let k = from; k < spans.offsets[i + 1]!; k++) {
      const start = base + spans.bounds[2 * k]!;
      if (!source.same(first, start)) return false;
      if (!source.isConstant(start, base + spans.bounds[2 * k + 1]!)) return false;
    }
  }
  return true;
}

/** `row`: the value of each row; +0 for a row without a token in scope. */
export function encodeRow(source: TokenSource, spans: Spans): Uint8Array {
  const out = new DTYPE_ARRAYS[source.dtype](spans.rows);
  const from = bitsOf(source.data);
  const to = bitsOf(out);
  for (let i = 0; i < spans.rows; i++) {
    const k = spans.offsets[i]!;
    if (k < spans.offsets[i + 1]!) to[i] = from[source.starts[i]! + spans.bounds[2 * k]!]!;
  }
  return bytesOf(out);
}

export function decodeRow(input: DecodeInput): RowColumn {
  const { dtype, rows, width, scope } = input;
  const values = readValues(input, rows, byRow);
  return { kind: "row", dtype, scope, rows, width, ...readResponseLengths(input), values };
}
