import type { Jagged, Tensor } from "../../columns/tensor.js";
import { defined } from "../../defined.js";
import { inputError } from "./input-error.js";
import { quote, toNumber } from "./lenient-json.js";

/**
 * A field from nested arrays: `(rows,)` numbers, or one list of token values a row (equal lengths → `(rows, width)`, else
 * ragged). Values become float32, `response_mask` bytes of 0 and 1.
 *
 * @throws INVALID_INPUT naming field, row and column of what is not a number, or not 0 or 1 in a mask
 */
export function numericField(file: string, name: string, value: unknown): Tensor | Jagged {
  if (!Array.isArray(value))
    throw inputError(file, `${name} is ${quote(value)}, not a list with one entry a row`, { field: name });
  if (!Array.isArray(value[0])) {
    const data = Float32Array.from(value, (entry, row) => float32(file, name, entry, row));
    return { kind: "tensor", dtype: "f32", shape: [value.length], data };
  }
  const rows = value.map((entry: unknown, row): readonly unknown[] => {
    if (Array.isArray(entry)) return entry;
    throw inputError(file, `${name} row ${row} is ${quote(entry)}, not a list of token values as in row 0`, {
      field: name,
      row,
    });
  });
  return tokenMatrix(file, name, rows);
}

function tokenMatrix(file: string, name: string, rows: readonly (readonly unknown[])[]): Tensor | Jagged {
  const isMask = name === "response_mask";
  const lengths = Int32Array.from(rows, (row) => row.length);
  const count = lengths.reduce((sum, length) => sum + length, 0);
  const data = isMask ? new Uint8Array(count) : new Float32Array(count);
  let at = 0;
  for (const [row, tokens] of rows.entries()) {
    for (const [column, token] of tokens.entries()) {
      const x = float32(file, name, token, row, column);
      if (isMask && x !== 0 && x !== 1) {
        throw inputError(file, `${name} row ${row}, column ${column} is ${quote(token)}; a mask holds 0 and 1 only`, {
          field: name,
          row,
          column,
        });
      }
      data[at++] = x;
    }
  }
  const dtype = isMask ? "u8" : "f32";
  const width = lengths.reduce((a, b) => Math.max(a, b), 0);
  const rectangular = count === rows.length * width;
  if (rectangular) return { kind: "tensor", dtype, shape: [rows.length, width], data };
  return { kind: "jagged", dtype, lengths, width, data };
}

/** An id as text: a string, or a whole number that JSON holds exactly. Beyond 2^53 neighbours are one number, and groups would merge. */
export function idText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "bigint" || Number.isSafeInteger(value) ? String(value) : undefined;
}

/** What an id must be, as the end of an error message. */
export const NO_ID = "neither a string nor a whole number below 2^53: write ids as strings";

/**
 * A column of strings; whole numbers are taken as their decimal text, since ids are often counted.
 *
 * @throws INVALID_INPUT naming column and row
 */
export function stringColumn(file: string, name: string, value: unknown): string[] {
  if (!Array.isArray(value))
    throw inputError(file, `${name} is ${quote(value)}, not a list with one string a row`, { field: name });
  return value.map((entry: unknown, row) => {
    const text = idText(entry);
    if (text !== undefined) return text;
    throw inputError(file, `${name} row ${row} is ${quote(entry)}, ${NO_ID}`, { field: name, row });
  });
}

/** Whole numbers from 0 and below 2^31, such as response lengths. @param what one of them, for the error. @throws INVALID_INPUT naming the row */
export function wholeColumn(file: string, name: string, value: unknown, what: string): Int32Array {
  return Int32Array.from(list(file, name, value), (entry, row) => {
    const n = toNumber(entry);
    if (n !== undefined && Number.isInteger(n) && n >= 0 && n < 2 ** 31) return n;
    throw inputError(file, `${name} row ${row} is ${quote(entry)}, not ${what} (whole, from 0)`, {
      field: name,
      row,
    });
  });
}

/** A column of booleans as 1 and 0. @throws INVALID_INPUT naming the row */
export function flagColumn(file: string, name: string, value: unknown): Uint8Array {
  return Uint8Array.from(list(file, name, value), (entry, row) => {
    const n = toNumber(entry);
    if (n === 0 || n === 1) return n;
    throw inputError(file, `${name} row ${row} is ${quote(entry)}, neither true nor false`, { field: name, row });
  });
}

function list(file: string, name: string, value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw inputError(file, `${name} is ${quote(value)}, not a list with one entry a row`, { field: name });
}

/** A number as float32 holds it: a finite one must stay finite. */
function float32(file: string, name: string, value: unknown, row: number, column?: number): number {
  const n = number(file, name, value, row, column);
  if (!Number.isFinite(n) || Number.isFinite(Math.fround(n))) return n;
  const place = column === undefined ? `row ${row}` : `row ${row}, column ${column}`;
  throw inputError(file, `${name} ${place} is ${quote(value)}, which float32 cannot hold`, { field: name, row });
}

function number(file: string, name: string, value: unknown, row: number, column?: number): number {
  const n = toNumber(value);
  if (n !== undefined) return n;
  const place = column === undefined ? `row ${row}` : `row ${row}, column ${column}`;
  throw inputError(file, `${name} ${place} is ${quote(value)}, not a number`, {
    field: name,
    row,
    ...defined({ column }),
  });
}
