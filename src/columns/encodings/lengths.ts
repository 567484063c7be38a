import { bytesOf } from "../bytes.js";
import type { LengthsColumn } from "../tensor.js";
import { readPerRow } from "./integers.js";
import type { DecodeInput, Parts } from "./part.js";

/** `lengths`: a 0/1 matrix whose ones are a prefix, as the number of ones in each row. */
export function encodeLengths(mask: LengthsColumn): Parts {
  return [["lengths", bytesOf(mask.lengths)]];
}

export function decodeLengths(input: DecodeInput): LengthsColumn {
  const { dtype, rows, width, scope } = input;
  return { kind: "lengths", dtype, scope, rows, width, lengths: readPerRow(input, "lengths", width) };
}
