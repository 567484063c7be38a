import { bitsOf, bytesOf } from "../bytes.js";
import { DTYPE_ARRAYS } from "../dtypes.js";
import type { Spans } from "../spans.js";
import type { LastColumn } from "../tensor.js";
import type { TokenSource } from "../token-source.js";
import { readResponseLengths } from "./integers.js";
import type { DecodeInput } from "./part.js";
import { byRow, readValues } from "./values.js";

/** Whether every token in scope but each row's last is +0. */
export function isLastOnly(source: TokenSource, spans: Spans): boolean {
  for (let i = 0; i < spans.rows; i++) {
    const base = source.starts[i]!;
    const end = spans.offsets[i + 1]!;
    for (let k = spans.offsets[i]!; k < end; k++) {
      const stop = base + spans.bounds[2 * k + 1]!;
      if (!source.isZeroRange(base + spans.bounds[2 * k]!, k === end - 1 ? stop - 1 : stop)) return false;
    }
  }
  return true;
}

/** Element index of each row's last token in scope, or -1. */
export function lastIndex(source: TokenSource, spans: Spans, row: number): number {
  const k = spans.offsets[row + 1]! - 1;
  return k < spans.offsets[row]! ? -1 : source.starts[row]! + spans.bounds[2 * k + 1]! - 1;
}

/** `last`: the value at each row's last token in scope; +0 for a row without one. */
export function encodeLast(source: TokenSource, spans: Spans): Uint8Array {
  const out = new DTYPE_ARRAYS[source.dtype](spans.rows);
  const from = bitsOf(source.data);
  const to = bitsOf(out);
  for (let i = 0; i < spans.rows; i++) {
    const at = lastIndex(source, spans, i);
    if (at >= 0) to[i] = from[at]!;
  }
  return bytesOf(out);
}

export function decodeLast(input: DecodeInput): LastColumn {
  const { dtype, rows, width, scope } = input;
  const values = readValues(input, rows, byRow);
  return { kind: "last", dtype, scope, rows, width, ...readResponseLengths(input), values };
}
