import { isStringField } from "../../columns/field-names.js";
import type { Strings, Tensor } from "../../columns/tensor.js";
import { inputError } from "./input-error.js";
import { flagColumn, stringColumn, wholeColumn } from "./json-columns.js";
import { type NpyArray, readNpy } from "./npy.js";
import { stepNumber } from "./read-json.js";
import { assembleStep, type RecordedStep, type StepDraft } from "./recorded-step.js";
import { readZip } from "./zip.js";

/**
 * A step saved with `np.savez` or `np.savez_compressed`: `step` and `adv_estimator` as scalars, the string fields,
 * `session_index`, `lengths` and `is_padding` as vectors, every other array `(rows,)` or `(rows, width)` a field, in its own dtype.
 *
 * @throws INVALID_INPUT naming the array
 */
export function readNpz(file: string, bytes: Buffer): RecordedStep {
  const draft: { -readonly [K in keyof StepDraft]: StepDraft[K] } & { fields: Record<string, Tensor | Strings> } = {
    fields: {},
  };
  for (const [entry, content] of readZip(file, bytes)) {
    const name = entry.replace(/\.npy$/, "");
    const array = readNpy(file, name, content);
    if (name === "step") draft.step = scalarStep(file, array);
    else if (name === "adv_estimator") draft.adv_estimator = estimator(file, array);
    else if (isStringField(name)) draft[name] = stringColumn(file, name, ids(file, name, vector(file, name, array)));
    else if (name === "lengths") draft.lengths = whole(file, name, array, "a number of tokens");
    else if (name === "session_index") draft.session_index = whole(file, name, array, "an index");
    else if (name === "is_padding")
      draft.is_padding = flagColumn(file, name, plain(vector(file, name, array)).map(Number));
    else draft.fields[name] = field(file, name, array);
  }
  return assembleStep(file, draft);
}

function field(file: string, name: string, array: NpyArray): Tensor | Strings {
  if (array.kind === "strings")
    return { kind: "strings", values: stringColumn(file, name, plain(vector(file, name, array))) };
  const [rows, width, ...more] = array.shape;
  if (rows === undefined || more.length > 0) {
    throw inputError(file, `array ${name} has shape (${array.shape}); a field is (rows,) or (rows, width)`, {
      field: name,
    });
  }
  const shape = width === undefined ? ([rows] as const) : ([rows, width] as const);
  return { kind: "tensor", dtype: array.dtype, shape, data: array.data };
}

function whole(file: string, name: string, array: NpyArray, what: string): Int32Array {
  return wholeColumn(file, name, plain(vector(file, name, array)).map(Number), what);
}

function vector(file: string, name: string, array: NpyArray): NpyArray {
  if (array.shape.length === 1) return array;
  throw inputError(file, `array ${name} has shape (${array.shape}), not one entry a row`, { field: name });
}

/** Strings or integers: a float may have merged two ids before it was saved. */
function ids(file: string, name: string, array: NpyArray): (string | number | bigint)[] {
  if (array.kind === "strings" || !["f16", "f32", "f64"].includes(array.dtype)) return plain(array);
  throw inputError(file, `array ${name} holds ${array.dtype} numbers; save ids as strings or integers`, {
    field: name,
  });
}

function scalarStep(file: string, array: NpyArray): number {
  const values = plain(array);
  if (values.length !== 1) throw inputError(file, `array step has ${values.length} elements; it is one number`, {});
  const value = values[0]!;
  return stepNumber(file, typeof value === "bigint" ? Number(value) : value);
}

function estimator(file: string, array: NpyArray): string {
  if (array.kind === "strings" && array.values.length === 1) return array.values[0]!;
  throw inputError(file, `array adv_estimator is not one string such as "grpo"`, { field: "adv_estimator" });
}

/** Elements as JavaScript values; 64-bit integers stay bigint, whose text is exact. */
function plain(array: NpyArray): (string | number | bigint)[] {
  return array.kind === "strings" ? [...array.values] : Array.from<number | bigint>(array.data);
}
