import { viewAs } from "../bytes.js";
import { DTYPE_BYTES, type NumericArray } from "../dtypes.js";
import { widenHalf } from "../half.js";
import { type DecodeInput, exactPart, malformed } from "./part.js";

/** Where element k lies, for messages. */
export type Locate = (element: number) => { row: number; column?: number };

/**
 * The part "values", `count` elements, as plain numbers: in place for f32, f64, i8, u8, i32 and bool, widened for f16, bf16 (Float32Array)
 * and i64 (Float64Array).
 *
 * @throws DataflexError DECODE: wrong size, a bool that is not 0 or 1, an i64 beyond ±2^53
 */
export function readValues(input: DecodeInput, count: number, locate: Locate): NumericArray {
  const { dtype } = input;
  const raw = viewAs(exactPart(input, "values", count * DTYPE_BYTES[dtype]), dtype);
  if (dtype === "f16" || dtype === "bf16") return widenHalf(raw as Uint16Array, dtype);
  if (dtype === "i64") return widenI64(input.name, raw as BigInt64Array, locate);
  if (dtype === "bool") checkBool(input.name, raw as Uint8Array, locate);
  return raw as NumericArray;
}

function widenI64(field: string, raw: BigInt64Array, locate: Locate): Float64Array {
  const words = new Int32Array(raw.buffer, raw.byteOffset, raw.length * 2);
  const out = new Float64Array(raw.length);
  for (let k = 0; k < out.length; k++) {
    const low = words[2 * k]! >>> 0;
    const high = words[2 * k + 1]!;
    if (high < -0x200000 || high > 0x200000 || (high === 0x200000 && low !== 0)) {
      malformed(field, `the i64 ${raw[k]} ${place(locate(k))} lies beyond ±2^53`, locate(k));
    }
    out[k] = high * 0x100000000 + low;
  }
  return out;
}

function checkBool(field: string, raw: Uint8Array, locate: Locate): void {
  for (let k = 0; k < raw.length; k++) {
    if (raw[k]! > 1) malformed(field, `the bool ${place(locate(k))} is ${raw[k]}, not 0 or 1`, locate(k));
  }
}

function place(at: { row: number; column?: number }): string {
  return at.column === undefined ? `in row ${at.row}` : `in row ${at.row}, column ${at.column}`;
}

export const byRow: Locate = (row) => ({ row });

export function byMatrix(width: number): Locate {
  return (k) => ({ row: Math.floor(k / width), column: k % width });
}

/** For elements stored row after row; `column` counts the row's stored elements, or is looked up in `index`. */
export function byOffsets(offsets: Int32Array, index?: Int32Array): Locate {
  return (k) => {
    let row = 0;
    while (offsets[row + 1]! <= k) row++;
    return { row, column: index === undefined ? k - offsets[row]! : index[k]! };
  };
}
