import { bitsOf, bytesOf, copyBits } from "../bytes.js";
import { DTYPE_ARRAYS } from "../dtypes.js";
import type { Spans } from "../spans.js";
import type { JaggedColumn } from "../tensor.js";
import type { TokenSource } from "../token-source.js";
import { offsetsOf, readPerRow } from "./integers.js";
import type { DecodeInput } from "./part.js";
import { byOffsets, readValues } from "./values.js";

/** `jagged`: the tokens in scope, row after row. In place when the source holds nothing else. */
export function encodeJagged(source: TokenSource, spans: Spans): Uint8Array {
  if (spans.total === source.data.length) return bytesOf(source.data);
  const out = new DTYPE_ARRAYS[source.dtype](spans.total);
  const from = bitsOf(source.data);
  const to = bitsOf(out);
  let at = 0;
  for (let i = 0; i < spans.rows; i++) {
    const base = source.starts[i]!;
    for (let k = spans.offsets[i]!; k < spans.offsets[i + 1]!; k++) {
      const start = base + spans.bounds[2 * k]!;
      const stop = base + spans.bounds[2 * k + 1]!;
      if (stop - start < 8) for (let j = start; j < stop; j++) to[at++] = from[j]!;
      else {
        copyBits(from, start, stop, to, at);
        at += stop - start;
      }
    }
  }
  return bytesOf(out);
}

/** Its part "lengths" counts the tokens in scope; in scope `response` these are the response lengths. */
export function decodeJagged(input: DecodeInput): JaggedColumn {
  const { dtype, rows, width, scope } = input;
  const lengths = readPerRow(input, "lengths", width);
  const offsets = offsetsOf(input.name, lengths);
  const values = readValues(input, offsets[rows]!, byOffsets(offsets));
  const own = scope === "response" ? { responseLengths: lengths } : {};
  return { kind: "jagged", dtype, scope, rows, width, ...own, offsets, values };
}
