import { errorOf } from "../sentences.js";
import type { Composed } from "./compose.js";

/** Rows of which any token weighs in the loss, ascending. */
export function keptRows({ weights, counts }: Composed): Int32Array {
  const weighs = (row: number): boolean => {
    if (weights.kind === "row") return weights.values[row] !== 0;
    return weights.values.subarray(weights.offsets[row]!, weights.offsets[row + 1]!).some((value) => value !== 0);
  };
  return Int32Array.from(counts.keys()).filter((row) => counts[row]! > 0 && weighs(row));
}

/** Something with an entry a row: a list, or a typed array of one number a row. */
export type RowWise = readonly unknown[] | Float32Array | Float64Array | Int32Array | Uint8Array;

/**
 * The fields cut to these rows.
 * @throws DataflexError INVALID_INPUT naming a field that does not have `rows` entries
 */
export function keepRows<F extends Readonly<Record<string, RowWise>>>(fields: F, kept: Int32Array, rows: number): F {
  const cut = Object.entries(fields).map(([name, value]) => {
    if (value.length !== rows) throw errorOf("INVALID_INPUT.keep", { field: name, length: value.length, rows });
    return [name, pick(value, kept)];
  });
  return Object.fromEntries(cut) as F;
}

function pick(value: RowWise, kept: Int32Array): RowWise {
  if (!ArrayBuffer.isView(value)) return [...kept].map((row) => value[row]);
  const made = new (value.constructor as new (length: number) => Float64Array)(kept.length);
  kept.forEach((row, i) => {
    made[i] = value[row]!;
  });
  return made;
}
