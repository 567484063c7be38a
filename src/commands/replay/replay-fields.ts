import { isStringField, STRING_FIELDS } from "../../columns/field-names.js";
import type { FieldValue } from "../../columns/tensor.js";
import { inputError } from "./input-error.js";
import type { RecordedStep } from "./recorded-step.js";

/** Names of everything a step can send. */
export function namesOf(step: RecordedStep): string[] {
  return [...Object.keys(step.fields), ...STRING_FIELDS.filter((name) => step[name] !== undefined)];
}

/**
 * The named fields of a step, as a put takes them.
 *
 * @param domainNames other names of the column `domain`
 * @throws INVALID_INPUT naming what the file lacks and what it has
 */
export function pickFields(
  file: string,
  step: RecordedStep,
  names: readonly string[],
  domainNames: readonly string[] = [],
): Record<string, FieldValue> {
  const find = (name: string) =>
    columnOf(step, name) ?? (domainNames.includes(name) ? columnOf(step, "domain") : undefined);
  const missing = names.filter((name) => find(name) === undefined);
  if (missing.length > 0) {
    throw inputError(file, `the configuration needs ${missing.join(", ")}; this file has ${namesOf(step).join(", ")}`, {
      missing,
    });
  }
  return Object.fromEntries(names.map((name) => [name, find(name)!]));
}

/** What rides along with `uid`. */
export function sessionsOf({ session, session_index: index }: RecordedStep): Record<string, FieldValue> {
  return {
    ...(session && { session: { kind: "strings", values: session } }),
    ...(index && { session_index: { kind: "tensor", dtype: "i32", shape: [index.length], data: index } }),
  };
}

function columnOf(step: RecordedStep, name: string): FieldValue | undefined {
  if (!isStringField(name)) return Object.hasOwn(step.fields, name) ? step.fields[name] : undefined;
  const values = step[name];
  return values && { kind: "strings", values };
}
