import { STRING_FIELDS } from "../../columns/field-names.js";
import { inputError } from "./input-error.js";
import { flagColumn, numericField, stringColumn, wholeColumn } from "./json-columns.js";
import { duplicateKey, parseLenientJson, quote, toNumber } from "./lenient-json.js";
import { assembleStep, type RecordedStep, type StepDraft } from "./recorded-step.js";

/** Columns with one entry per row; they may be at the top level, or among the fields. */
const COLUMNS: readonly string[] = [...STRING_FIELDS, "session_index", "lengths", "is_padding"];
const KEYS: readonly string[] = ["step", "adv_estimator", "fields", ...COLUMNS];

/**
 * A step written as one JSON object: `{"step", "adv_estimator"?, "fields": {name: nested lists}, "uid"?, "domain"?, "session"?,
 * "session_index"?, "dataset_key"?, "lengths"?, "is_padding"?}`.
 *
 * @throws INVALID_INPUT
 */
export function readJson(file: string, text: string): RecordedStep {
  let value: unknown;
  try {
    value = parseLenientJson(text);
  } catch (cause) {
    throw inputError(file, `not JSON: ${(cause as Error).message}`, {}, cause);
  }
  const twice = duplicateKey(text, 2);
  if (twice !== undefined)
    throw inputError(file, `the key ${quote(twice)} occurs twice in one object: which of the two is meant?`, {
      key: twice,
    });
  return stepFromObject(file, value);
}

/** The same from the parsed object. */
function stepFromObject(file: string, value: unknown): RecordedStep {
  if (!isObject(value)) throw inputError(file, `expected one JSON object with "fields", got ${quote(value)}`);
  const unknown = Object.keys(value).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) {
    throw inputError(
      file,
      `unknown key ${quote(unknown)}; a recorded step has ${KEYS.join(", ")} (tensors go under "fields")`,
      {
        key: unknown,
      },
    );
  }
  const { fields } = value;
  if (!isObject(fields)) {
    throw inputError(
      file,
      `"fields" is missing; expected an object such as {"rm_scores": [[0, 1]], "response_mask": [[1, 1]]}`,
    );
  }
  const draft: { -readonly [K in keyof StepDraft]: StepDraft[K] } & {
    fields: Record<string, StepDraft["fields"][string]>;
  } = {
    fields: {},
  };
  if (value.step !== undefined) draft.step = stepNumber(file, value.step);
  if (value.adv_estimator !== undefined && value.adv_estimator !== null) {
    if (typeof value.adv_estimator !== "string") {
      throw inputError(file, `adv_estimator is ${quote(value.adv_estimator)}, not a name such as "grpo"`);
    }
    draft.adv_estimator = value.adv_estimator;
  }
  const column = (name: string): unknown => columnOf(file, name, value, fields);
  for (const name of STRING_FIELDS) {
    const given = column(name);
    if (given !== undefined) draft[name] = stringColumn(file, name, given);
  }
  const index = column("session_index");
  if (index !== undefined) draft.session_index = wholeColumn(file, "session_index", index, "an index");
  const lengths = column("lengths");
  if (lengths !== undefined) draft.lengths = wholeColumn(file, "lengths", lengths, "a number of tokens");
  const padding = column("is_padding");
  if (padding !== undefined) draft.is_padding = flagColumn(file, "is_padding", padding);
  for (const [name, given] of Object.entries(fields)) {
    if (COLUMNS.includes(name)) continue;
    draft.fields[name] = isTexts(given)
      ? { kind: "strings", values: stringColumn(file, name, given) }
      : numericField(file, name, given);
  }
  return assembleStep(file, draft);
}

/** A column of strings under a name of its own; "NaN" and its kin are numbers. */
function isTexts(given: unknown): boolean {
  return Array.isArray(given) && given.some((entry) => typeof entry === "string" && toNumber(entry) === undefined);
}

/** A step's number: whole, from 0. */
export function stepNumber(file: string, value: unknown): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  throw inputError(file, `step is ${quote(value)}, not a whole number from 0`);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A column from the top or from among the fields; absent or null (as Python writes None): undefined. */
function columnOf(file: string, name: string, top: Record<string, unknown>, fields: Record<string, unknown>): unknown {
  const given = [top[name], fields[name]].filter((value) => value !== undefined && value !== null);
  if (given.length > 1)
    throw inputError(file, `${name} is given twice, at the top and under "fields"`, { field: name });
  return given[0];
}
