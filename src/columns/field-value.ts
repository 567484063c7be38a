import { DataflexError } from "../errors.js";
import { DTYPE_ARRAYS, type TypedArray } from "./dtypes.js";
import { isMaskField, validateFieldName } from "./field-names.js";
import type { FieldValue } from "./tensor.js";

/** Rows of a field. */
export function rowsOf(value: FieldValue): number {
  switch (value.kind) {
    case "tensor":
    case "features":
      return value.shape[0];
    case "jagged":
      return value.lengths.length;
    case "strings":
      return value.values.length;
  }
}

/**
 * Checks that a field's parts agree: typed array of the dtype, as many elements as shape or lengths say.
 *
 * @throws DataflexError INVALID_INPUT naming the field, and the row where there is one
 */
export function checkFieldValue(field: string, value: FieldValue): void {
  validateFieldName(field);
  if (value.kind === "strings") {
    const row = value.values.findIndex((text) => typeof text !== "string");
    if (row >= 0) refuse(field, `holds no string in row ${row}; send one per row`, { row });
    return;
  }
  const array = DTYPE_ARRAYS[value.dtype];
  if (!(value.data instanceof array)) {
    refuse(field, `is ${value.dtype} in a ${value.data.constructor.name}; ${value.dtype} is held in a ${array.name}`);
  }
  if (value.dtype === "bool" && !isMaskField(field)) checkBools(field, value.data);
  if (value.kind !== "jagged") {
    if (value.shape.length < 1 || value.shape.length > 2 || !value.shape.every(isSize)) {
      refuse(field, `has the shape [${value.shape.join(", ")}]; a shape is [rows] or [rows, width]`);
    }
    const count = value.shape[0] * (value.shape[1] ?? 1);
    if (count !== value.data.length) {
      refuse(field, `has ${value.data.length} elements, its shape [${value.shape.join(", ")}] needs ${count}`);
    }
    return;
  }
  let sum = 0;
  for (let row = 0; row < value.lengths.length; row++) {
    const length = value.lengths[row]!;
    if (length < 0) refuse(field, `has the length ${length} in row ${row}`, { row });
    if (length > value.width) refuse(field, `has ${length} tokens in row ${row}, its width is ${value.width}`, { row });
    sum += length;
  }
  if (sum !== value.data.length) {
    refuse(field, `has ${value.data.length} elements, its lengths add up to ${sum}`);
  }
}

/** Readers refuse other bytes, so the writer does too. (Masks are checked where they are read.) */
function checkBools(field: string, data: TypedArray): void {
  const element = (data as Uint8Array).findIndex((value) => value > 1);
  if (element >= 0) refuse(field, `is bool and element ${element} is ${data[element]}; a bool is 0 or 1`, { element });
}

function isSize(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function refuse(field: string, why: string, details: Record<string, unknown> = {}): never {
  throw new DataflexError("INVALID_INPUT", `Field "${field}" ${why}.`, { field, ...details });
}
