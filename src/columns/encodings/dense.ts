import { bitsOf, bytesOf, copyBits } from "../bytes.js";
import { DTYPE_ARRAYS } from "../dtypes.js";
import type { Spans } from "../spans.js";
import type { DenseColumn, FeaturesColumn, VectorColumn } from "../tensor.js";
import type { TokenSource } from "../token-source.js";
import { readResponseLengths } from "./integers.js";
import type { DecodeInput } from "./part.js";
import { byMatrix, byRow, readValues } from "./values.js";

/** `dense`: every element, row-major; +0 outside the scope. In place when everything is in scope. */
export function encodeDense(source: TokenSource, spans: Spans): Uint8Array {
  const { rows, width } = spans;
  if (spans.total === rows * width) return bytesOf(source.data);
  const out = new DTYPE_ARRAYS[source.dtype](rows * width);
  const from = bitsOf(source.data);
  const to = bitsOf(out);
  for (let i = 0; i < rows; i++) {
    for (let k = spans.offsets[i]!; k < spans.offsets[i + 1]!; k++) {
      const start = spans.bounds[2 * k]!;
      copyBits(from, source.starts[i]! + start, source.starts[i]! + spans.bounds[2 * k + 1]!, to, i * width + start);
    }
  }
  return bytesOf(out);
}

export function decodeDense(input: DecodeInput): DenseColumn | FeaturesColumn | VectorColumn {
  const { dtype, rows, width, scope } = input;
  if (!input.matrix) return { kind: "vector", dtype, rows, values: readValues(input, rows, byRow) };
  const values = readValues(input, rows * width, byMatrix(width));
  if (input.features) return { kind: "features", dtype, rows, width, values };
  return { kind: "dense", dtype, scope, rows, width, ...readResponseLengths(input), values };
}
