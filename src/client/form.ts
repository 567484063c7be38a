import { isStringField } from "../columns/field-names.js";
import { rowsOf } from "../columns/field-value.js";
import type { FieldValue, Scope } from "../columns/tensor.js";
import { DataflexError } from "../errors.js";
import type { FieldNeed } from "../protocol/pipeline-spec.js";

/**
 * Checks that the fields of a put of `rows` rows have the form in which the service reads them. Each value alone was
 * checked when it was made (`toFieldValue`); nothing after this repeats either check.
 *
 * @throws DataflexError INVALID_INPUT naming the field: strings or numbers where the service reads the other, one number per row where it
 *   reads tokens, a wrong number of rows
 */
export function checkForm(
  values: Readonly<Record<string, FieldValue>>,
  needs: readonly FieldNeed[],
  rows: number,
): void {
  for (const { name, scope } of needs) {
    const value = values[name];
    if (value === undefined) continue;
    checkKind(name, value, scope);
    if (rowsOf(value) === rows) continue;
    const message = `field "${name}" has ${rowsOf(value)} rows, this put is for ${rows}`;
    throw new DataflexError("INVALID_INPUT", message, { field: name, rows: rowsOf(value), expected: rows });
  }
}

/** A field with a scope has a value per token. Scoring would notice too, but too late for the step. */
function checkKind(name: string, value: FieldValue, scope: Scope | undefined): void {
  if (isStringField(name) && value.kind !== "strings") {
    const message = `field "${name}" holds numbers; it is a column of one string a row`;
    throw new DataflexError("INVALID_INPUT", message, { field: name });
  }
  if (scope === undefined || (value.kind !== "strings" && !(value.kind === "tensor" && value.shape.length === 1)))
    return;
  throw new DataflexError(
    "INVALID_INPUT",
    `field "${name}" has one ${value.kind === "strings" ? "string" : "number"} a row; it is read token by token: send (rows, L), or ` +
      "ragged rows (an outcome stands on the response's last token, a value of the whole row on each of its tokens)",
    { field: name },
  );
}
