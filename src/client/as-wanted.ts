import { kindOf } from "../columns/field-kinds.js";
import { toFieldValue } from "../columns/input.js";
import type { FieldValue } from "../columns/tensor.js";
import { DataflexError } from "../errors.js";
import type { FieldNeed } from "../protocol/pipeline-spec.js";
import { shownValue } from "../redact.js";

/**
 * A trainer's value for a field, in the form that its kind allows beside its own: whole numbers for strings, as their decimal text; `(rows, 1)`
 * for one number a row; an empty list for no rows.
 *
 * @throws DataflexError INVALID_INPUT as `toFieldValue`
 */
export function asWanted(need: FieldNeed, input: unknown): FieldValue {
  const { name } = need;
  switch (kindOf(need)) {
    case "strings": {
      const texts = idTexts(name, input);
      return texts?.length === 0 ? { kind: "strings", values: [] } : toFieldValue(name, texts ?? input);
    }
    case "row": {
      const value = toFieldValue(name, input);
      if (value.kind === "tensor" && value.shape[1] === 1) return { ...value, shape: [value.shape[0]] };
      if (value.kind === "jagged" && value.lengths.every((length) => length === 1)) {
        return { kind: "tensor", dtype: value.dtype, shape: [value.lengths.length], data: value.data };
      }
      return value;
    }
    case "tokens":
      if (Array.isArray(input) && input.length === 0) {
        return toFieldValue(name, { values: new Float32Array(0), lengths: [] });
      }
      return toFieldValue(name, input);
    case "features":
      return toFeatures(name, toFieldValue(name, input));
    default:
      return toFieldValue(name, input);
  }
}

/** `(rows, d)` in a float dtype of at most 32 bits; of ragged rows only where all are equally long. */
function toFeatures(field: string, value: FieldValue): FieldValue {
  const refuse = (why: string, details = {}): never => {
    throw new DataflexError("INVALID_INPUT", `Field "${field}" ${why}.`, { field, ...details });
  };
  if (value.kind === "features") return value;
  if (value.kind === "strings") return refuse("holds strings; features are (rows, d) numbers");
  if (!["f32", "f16", "bf16"].includes(value.dtype)) {
    return refuse(`holds ${value.dtype}; features are f32, f16 or bf16: cast them`);
  }
  if (value.kind === "tensor") {
    const [rows, width] = value.shape;
    if (width === undefined) return refuse("has one number per row; features are (rows, d)");
    return { kind: "features", dtype: value.dtype, shape: [rows, width], data: value.data };
  }
  const width = value.lengths[0] ?? 0;
  const row = value.lengths.findIndex((length) => length !== width);
  if (row >= 0) {
    refuse(`has ${value.lengths[row]} numbers in row ${row}, where row 0 has ${width}; features are (rows, d)`, {
      row,
    });
  }
  return { kind: "features", dtype: value.dtype, shape: [value.lengths.length, width], data: value.data };
}

/** Whole numbers as their text, each exact; undefined for anything else. */
function idTexts(name: string, input: unknown): string[] | undefined {
  const given = isVector(input) ? input.data : input;
  if (Array.isArray(given)) {
    const first: unknown = given[0];
    if (given.length > 0 && typeof first !== "number" && typeof first !== "bigint") return undefined;
    return given.map((value: unknown, row) => {
      if (typeof value === "bigint" || Number.isSafeInteger(value)) return String(value);
      const message = `Field "${name}" is ${shownValue(value)} in row ${row}, no string and no whole number below 2^53; send strings.`;
      throw new DataflexError("INVALID_INPUT", message, { field: name, row });
    });
  }
  const whole =
    given instanceof BigInt64Array ||
    given instanceof BigUint64Array ||
    given instanceof Int8Array ||
    given instanceof Uint8Array ||
    given instanceof Int32Array;
  return whole ? Array.from<number | bigint, string>(given, String) : undefined;
}

function isVector(input: unknown): input is { readonly data: unknown } {
  if (typeof input !== "object" || input === null) return false;
  const { data, shape } = input as { readonly data?: unknown; readonly shape?: unknown };
  return ArrayBuffer.isView(data) && Array.isArray(shape) && shape.length === 1;
}
