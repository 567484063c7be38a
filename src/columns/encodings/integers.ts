import { viewAs } from "../bytes.js";
import { type DecodeInput, exactPart, malformed } from "./part.js";

/** An i32 part of exactly `count` entries. */
export function readI32(input: DecodeInput, part: string, count: number): Int32Array {
  return viewAs(exactPart(input, part, count * 4), "i32") as Int32Array;
}

/** An i32 part with one entry a row, each within `[0, max]`. */
export function readPerRow(input: DecodeInput, part: string, max: number): Int32Array {
  const values = readI32(input, part, input.rows);
  for (let row = 0; row < values.length; row++) {
    if (values[row]! < 0 || values[row]! > max) {
      malformed(input.name, `part "${part}" says ${values[row]} in row ${row}, outside [0, ${max}]`, { part, row });
    }
  }
  return values;
}

/** Running sums, rows + 1 entries, from counts that are already checked. Sums beyond 2^31 - 1 cannot be indexed and are refused. */
export function offsetsOf(field: string, counts: Int32Array): Int32Array {
  const offsets = new Int32Array(counts.length + 1);
  let sum = 0;
  for (let i = 0; i < counts.length; i++) {
    sum += counts[i]!;
    if (sum > 0x7fffffff) malformed(field, "it declares more than 2^31 - 1 tokens");
    offsets[i + 1] = sum;
  }
  return offsets;
}

/** Response lengths, where a column of scope `response` carries them. */
export function readResponseLengths(input: DecodeInput): { responseLengths?: Int32Array } {
  if (!input.has("lengths")) return {};
  if (input.scope !== "response") malformed(input.name, 'part "lengths" belongs to scope "response" only');
  return { responseLengths: readPerRow(input, "lengths", input.width) };
}
