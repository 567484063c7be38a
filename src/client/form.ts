import { type FieldKind, kindOf, SPREAD_FIELDS } from "../columns/field-kinds.js";
import { rowsOf } from "../columns/field-value.js";
import type { FieldValue } from "../columns/tensor.js";
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
  for (const need of needs) {
    const { name } = need;
    const value = values[name];
    if (value === undefined) continue;
    const problem = kindProblem(name, kindOf(need), formOf(value));
    if (problem !== undefined) {
      throw new DataflexError("INVALID_INPUT", `field "${name}" ${problem}`, { field: name });
    }
    if (rowsOf(value) === rows) continue;
    const message = `field "${name}" has ${rowsOf(value)} rows, this put is for ${rows}`;
    throw new DataflexError("INVALID_INPUT", message, { field: name, rows: rowsOf(value), expected: rows });
  }
}

type Form = "strings" | "vector" | "matrix" | "features";

function formOf(value: FieldValue): Form {
  if (value.kind === "strings" || value.kind === "features") return value.kind;
  return value.kind === "tensor" && value.shape.length === 1 ? "vector" : "matrix";
}

/** Scoring would find out too, but only when it is too late for the step. */
function kindProblem(name: string, kind: FieldKind, form: Form): string | undefined {
  switch (kind) {
    case "strings":
      return form === "strings" ? undefined : "holds numbers; it is a column of one string per row";
    case "row":
      if (form === "vector") return undefined;
      return `holds ${form === "strings" ? "strings" : "one number per token"}; it is read as one number per row: send (rows,)`;
    case "tokens":
      if (form === "matrix" || (form === "vector" && Object.hasOwn(SPREAD_FIELDS, name))) return undefined;
      return (
        `has one ${form === "strings" ? "string" : "number"} per row; it is read token by token: send (rows, L), or ` +
        "ragged rows (an outcome on the response's last token, a value of the whole row on each of its tokens)"
      );
    case "features":
      return form === "features" ? undefined : "is read as features: send (rows, d)";
    default:
      return form === "strings" || form === "features"
        ? `holds ${form}; it is read as numbers, one per row or one per token`
        : undefined;
  }
}
