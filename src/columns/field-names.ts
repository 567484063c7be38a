import { DataflexError } from "../errors.js";
import { shownValue } from "../redact.js";

const PATTERN = /^[A-Za-z_][A-Za-z0-9_.-]{0,95}$/;

/** Fields that hold one string a row. */
export const STRING_FIELDS = ["uid", "domain", "session", "dataset_key"] as const;
export type StringField = (typeof STRING_FIELDS)[number];

export function isStringField(name: string): name is StringField {
  return (STRING_FIELDS as readonly string[]).includes(name);
}

/** Columns that say which tokens count: `response_mask` in puts, `mask` in results. Their elements are 0 or 1. */
const MASK_FIELDS: readonly string[] = ["response_mask", "mask"];

export function isMaskField(name: string): boolean {
  return MASK_FIELDS.includes(name);
}

/** True for a name that can stand on the wire. Names of Object.prototype never can: a lookup by name must not find a method. */
export function isFieldName(name: unknown): name is string {
  return typeof name === "string" && PATTERN.test(name) && !(name in Object.prototype);
}

/**
 * Checks a field's name: a letter or `_`, then at most 95 of `A-Z a-z 0-9 _ . -`, and no property name of every object
 * (`__proto__`, `constructor`, `toString` …).
 *
 * @throws DataflexError INVALID_INPUT naming the field
 */
export function validateFieldName(name: unknown): asserts name is string {
  if (isFieldName(name)) return;
  const shown = typeof name === "string" ? JSON.stringify(name) : shownValue(name);
  const why =
    typeof name === "string" && name in Object.prototype
      ? "is a property of every object and cannot name a field"
      : "is not a field name (a letter or _, then letters, digits, _ . -, at most 96 characters)";
  throw new DataflexError("INVALID_INPUT", `Field ${shown} ${why}; rename it.`, { field: shownValue(name) });
}

/** Columns that say where tokens are rather than carry a signal: any put may contain them, and they are not produced as fields are. */
export const LAYOUT_COLUMNS = ["lengths", "is_padding"] as const;

/** Which session of its group a row is of, and its place there: they ride along with `uid` wherever a trainer has them. */
export const SESSION_COLUMNS = ["session", "session_index"] as const;
