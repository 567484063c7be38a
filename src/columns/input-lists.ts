import { DataflexError } from "../errors.js";
import { bitsOf } from "./bytes.js";
import { DTYPE_ARRAYS, type DType, type TypedArray } from "./dtypes.js";
import type { FieldValue, Jagged, Tensor } from "./tensor.js";

/** A list of numbers or booleans `(rows,)`, of strings, or of rows (ragged). The first element says which; the others must be of the same kind. */
export function fromList(field: string, list: readonly unknown[], mask: boolean): FieldValue {
  const first = list[0];
  if (typeof first === "string") return strings(field, list);
  if (Array.isArray(first) || ArrayBuffer.isView(first) || (mask && list.length === 0)) return rows(field, list, mask);
  const dtype: DType = mask || typeof first === "boolean" ? "bool" : "f32";
  const data = new DTYPE_ARRAYS[dtype](list.length);
  fill(field, list, data, 0, dtype, mask, undefined);
  return { kind: "tensor", dtype, shape: [list.length], data } satisfies Tensor;
}

function strings(field: string, list: readonly unknown[]): FieldValue {
  const row = list.findIndex((value) => typeof value !== "string");
  if (row >= 0) refuse(field, `is ${shown(list[row])} in row ${row}, where the rows before are strings`, { row });
  return { kind: "strings", values: list as readonly string[] };
}

function rows(field: string, list: readonly unknown[], mask: boolean): Jagged {
  const lengths = Int32Array.from(list, (row, i) => {
    if (Array.isArray(row) || ArrayBuffer.isView(row)) return (row as ArrayLike<unknown>).length;
    return refuse(field, `is ${shown(row)} in row ${i}, where the rows before are lists`, { row: i });
  });
  const total = lengths.reduce((a, b) => a + b, 0);
  const width = lengths.reduce((a, b) => Math.max(a, b), 0);
  const typedRow = list.find((row) => ArrayBuffer.isView(row));
  if (typedRow !== undefined) {
    const dtype = rowDType(field, list, typedRow);
    const data = new DTYPE_ARRAYS[dtype](total);
    const to = bitsOf(data);
    let at = 0;
    for (const row of list as TypedArray[]) {
      to.set(bitsOf(row), at);
      at += row.length;
    }
    return { kind: "jagged", dtype, lengths, width, data };
  }
  const firstFull = (list as (readonly unknown[])[]).find((row) => row.length > 0);
  const dtype: DType = mask || typeof firstFull?.[0] === "boolean" ? "bool" : "f32";
  const data = new DTYPE_ARRAYS[dtype](total);
  let at = 0;
  (list as (readonly unknown[])[]).forEach((row, i) => {
    fill(field, row, data, at, dtype, mask, i);
    at += row.length;
  });
  return { kind: "jagged", dtype, lengths, width, data };
}

function rowDType(field: string, list: readonly unknown[], typedRow: unknown): DType {
  const dtype = (["f32", "f64", "i8", "u8", "i32", "i64"] as const).find((d) => typedRow instanceof DTYPE_ARRAYS[d]);
  if (dtype === undefined)
    refuse(field, "has rows in a typed array whose dtype is unknown; give {values, lengths, dtype}");
  const row = list.findIndex((other) => !(other instanceof DTYPE_ARRAYS[dtype]));
  if (row >= 0) refuse(field, `has rows of different types, from row ${row} on`, { row });
  return dtype;
}

function fill(
  field: string,
  list: readonly unknown[],
  data: TypedArray,
  at: number,
  dtype: DType,
  mask: boolean,
  row: number | undefined,
): void {
  for (let j = 0; j < list.length; j++) {
    const value = list[j];
    if (typeof value === "number" && dtype === "f32") {
      if (Number.isFinite(value) && !Number.isFinite(Math.fround(value))) {
        refuseAt(field, `is ${value}`, "which float32 cannot hold", row, j);
      }
      data[at + j] = value;
    } else if (typeof value === "boolean" && dtype === "bool") data[at + j] = value ? 1 : 0;
    else if (mask && (value === 0 || value === 1)) data[at + j] = value;
    else if (mask) refuseAt(field, `is ${shown(value)}`, "and a mask holds only 0 and 1", row, j);
    else refuseAt(field, `is ${shown(value)}`, `not a ${dtype === "bool" ? "boolean" : "number"}`, row, j);
  }
}

function refuseAt(field: string, what: string, why: string, row: number | undefined, column: number): never {
  const where = row === undefined ? `in row ${column}` : `in row ${row}, column ${column}`;
  const details = row === undefined ? { row: column } : { row, column };
  return refuse(field, `${what} ${where}, ${why}; say NaN where a value is missing`, details);
}

function refuse(field: string, why: string, details: Record<string, unknown> = {}): never {
  throw new DataflexError("INVALID_INPUT", `Field "${field}" ${why}.`, { field, ...details });
}

function shown(value: unknown): string {
  if (value === undefined || value === null || typeof value !== "object") return String(value);
  return Array.isArray(value) ? "a list" : "an object";
}
