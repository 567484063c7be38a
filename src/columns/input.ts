import { DataflexError } from "../errors.js";
import { shownValue } from "../redact.js";
import { DTYPE_ARRAYS, type DType, isDType, type TypedArray } from "./dtypes.js";
import { isMaskField, isStringField, validateFieldName } from "./field-names.js";
import { checkFieldValue } from "./field-value.js";
import { fromList } from "./input-lists.js";
import type { FieldValue, Jagged, Tensor } from "./tensor.js";

/** What a trainer may pass for one field. */
export type FieldInput =
  | FieldValue
  | TypedArray
  | readonly (number | boolean | string | bigint)[]
  | readonly (readonly number[] | readonly boolean[] | TypedArray)[]
  | { readonly data: TypedArray; readonly shape: readonly number[]; readonly dtype?: DType }
  | {
      readonly values: TypedArray | readonly number[];
      readonly lengths: ArrayLike<number>;
      readonly dtype?: DType;
      readonly width?: number;
    };

/**
 * A field as the encoder takes it. The form decides, never the sizes: a list of numbers is `(rows,)`; a list of rows is ragged, even when
 * the rows are equally long or there is one only; a list of strings is a string column; `{data, shape}` is dense; `{values,
 * lengths}` is ragged. Numbers become f32 (rounded), booleans and the numbers of masks bool; typed arrays keep their dtype and bits and
 * are not copied, unless they are rows of a list.
 *
 * @throws DataflexError INVALID_INPUT with field, row and column: null or undefined (never 0), a number beyond f32, a mask element neither
 *   0 nor 1, mixed or nested lists, a dtype that does not fit its array
 */
export function toFieldValue(name: string, input: unknown): FieldValue {
  validateFieldName(name);
  const value = convert(name, input);
  checkFieldValue(name, value);
  return value;
}

/** Several fields, by name. @throws as `toFieldValue` */
export function toFieldValues(inputs: Readonly<Record<string, unknown>>): Record<string, FieldValue> {
  return Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, toFieldValue(name, input)]));
}

function convert(name: string, input: unknown): FieldValue {
  if (Array.isArray(input)) {
    if (input.length === 0 && isStringField(name)) return { kind: "strings", values: [] };
    return fromList(name, input, isMaskField(name));
  }
  if (ArrayBuffer.isView(input)) {
    return convert(name, { data: input, shape: [(input as TypedArray).length] });
  }
  if (typeof input !== "object" || input === null) refuse(name, `is ${input === null ? "null" : `a ${typeof input}`}`);
  const given = input as Readonly<Record<string, unknown>>;
  if (given.kind === "strings") return input as FieldValue;
  if (given.lengths !== undefined) return jagged(name, given);
  if (given.shape !== undefined) return tensor(name, given);
  return refuse(name, "is an object without shape or lengths");
}

function tensor(name: string, given: Readonly<Record<string, unknown>>): Tensor {
  const { data, shape } = given;
  if (!Array.isArray(shape)) refuse(name, "has a shape that is no list");
  const { array, dtype } = typed(name, data, given.dtype);
  return { kind: "tensor", dtype, shape: shape as [number] | [number, number], data: array };
}

function jagged(name: string, given: Readonly<Record<string, unknown>>): Jagged {
  const lengths = toLengths(name, given.lengths);
  const held = given.values ?? given.data;
  const widest = lengths.reduce((a, b) => Math.max(a, b), 0);
  const width = given.width === undefined ? widest : given.width;
  if (!Number.isSafeInteger(width) || (width as number) < 0) refuse(name, `has the width ${shownValue(width)}`);
  if (Array.isArray(held)) {
    const list = fromList(name, held, isMaskField(name));
    if (list.kind !== "tensor" && held.length > 0) refuse(name, "has values that are no list of numbers");
    const array = list.kind === "strings" ? new Float32Array(0) : list.data;
    const dtype = list.kind === "strings" ? "f32" : list.dtype;
    if (given.dtype !== undefined && given.dtype !== dtype) {
      refuse(name, `is a list, which becomes ${dtype}, and asks for ${shownValue(given.dtype)}; give a typed array`);
    }
    return { kind: "jagged", dtype, lengths, width: width as number, data: array };
  }
  const { array, dtype } = typed(name, held, given.dtype);
  return { kind: "jagged", dtype, lengths, width: width as number, data: array };
}

function toLengths(name: string, lengths: unknown): Int32Array {
  if (lengths instanceof Int32Array) return lengths;
  if (!Array.isArray(lengths) && !ArrayBuffer.isView(lengths)) refuse(name, "has lengths that are no list");
  return Int32Array.from(lengths as ArrayLike<number>, (length, row) => {
    if (!Number.isInteger(length) || length < 0 || length > 0x7fffffff) {
      refuse(name, `has the length ${length} in row ${row}`, { row });
    }
    return length;
  });
}

/** A typed array and its dtype; 16-bit words must say which float they are. */
function typed(name: string, data: unknown, dtype: unknown): { array: TypedArray; dtype: DType } {
  const natural = (["f32", "f64", "i8", "u8", "i32", "i64", "f16"] as const).find(
    (d) => data instanceof DTYPE_ARRAYS[d],
  );
  if (natural === undefined)
    refuse(name, "has data in no typed array of a known dtype (Float32Array, Float64Array, …)");
  if (dtype === undefined && natural === "f16") refuse(name, "is 16-bit words; say dtype f16 or bf16");
  if (dtype !== undefined && !isDType(dtype)) refuse(name, `has the unknown dtype ${shownValue(dtype)}`);
  return { array: data as TypedArray, dtype: dtype ?? natural };
}

function refuse(field: string, why: string, details: Record<string, unknown> = {}): never {
  throw new DataflexError("INVALID_INPUT", `Field "${field}" ${why}.`, { field, ...details });
}
