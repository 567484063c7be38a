import { STRING_FIELDS, type StringField } from "../../columns/field-names.js";
import { rowsOf } from "../../columns/field-value.js";
import type { Jagged, Strings, Tensor } from "../../columns/tensor.js";
import { defined } from "../../defined.js";
import { inputError } from "./input-error.js";

/**
 * One step as a file recorded it. `fields` are `(rows,)`, `(rows, width)`, ragged by response, or strings under a name of the
 * file's own. All ragged ones agree in their lengths; a matrix of another width than the mask's may be features.
 */
export interface RecordedStep extends Readonly<Partial<Record<StringField, readonly string[]>>> {
  readonly step: number;
  readonly rows: number;
  readonly fields: Readonly<Record<string, Tensor | Jagged | Strings>>;
  readonly adv_estimator?: string;
  /** Where each row stands in its session. */
  readonly session_index?: Int32Array;
  /** Response tokens of each row. */
  readonly lengths?: Int32Array;
  /** 1 for rows that only fill the batch up. */
  readonly is_padding?: Uint8Array;
}

/** verl counts steps from 1; a file that names none is taken as the first. */
const DEFAULT_STEP = 1;

/** A step as read, before its parts are known to agree. */
export type StepDraft = Omit<RecordedStep, "rows" | "step"> & { readonly step?: number };

/**
 * Checks that all parts of a draft describe the same rows and tokens, and fills in what follows from them.
 *
 * @throws INVALID_INPUT naming both fields and the row where two parts disagree
 */
export function assembleStep(file: string, draft: StepDraft): RecordedStep {
  const rows = agreeOnRows(file, draft);
  const lengths = agreeOnLengths(file, draft);
  const width = agreeOnWidth(file, draft, lengths);
  const fields = Object.fromEntries(
    Object.entries(draft.fields).map(([name, value]) => [name, value.kind === "jagged" ? { ...value, width } : value]),
  );
  return { ...draft, step: draft.step ?? DEFAULT_STEP, rows, fields, ...defined({ lengths }) };
}

function agreeOnRows(file: string, draft: StepDraft): number {
  const counts: [string, number][] = Object.entries(draft.fields).map(([name, value]) => [name, rowsOf(value)]);
  for (const name of [...STRING_FIELDS, "session_index", "lengths", "is_padding"] as const) {
    const column = draft[name];
    if (column !== undefined) counts.push([name, column.length]);
  }
  const [first, ...rest] = counts;
  if (Object.keys(draft.fields).length === 0 || first === undefined) {
    throw inputError(file, "the step has no fields; a scorer needs at least one, such as rm_scores");
  }
  for (const [name, count] of rest) {
    if (count !== first[1]) {
      throw inputError(
        file,
        `${first[0]} has ${first[1]} rows and ${name} has ${count}; every column needs one entry a row`,
        {
          fields: [first[0], name],
          rows: [first[1], count],
        },
      );
    }
  }
  if (first[1] === 0) throw inputError(file, `${first[0]} has no rows: there is nothing to weigh`);
  return first[1];
}

/** Response lengths: those stated, else those of the ragged fields, which must all be the same. */
function agreeOnLengths(file: string, draft: StepDraft): Int32Array | undefined {
  let known: { name: string; lengths: Int32Array } | undefined =
    draft.lengths === undefined ? undefined : { name: "lengths", lengths: draft.lengths };
  for (const [name, value] of Object.entries(draft.fields)) {
    if (value.kind !== "jagged") continue;
    if (known === undefined) known = { name, lengths: value.lengths };
    const row = known.lengths.findIndex((length, i) => length !== value.lengths[i]);
    if (row !== -1) {
      const [a, b] = [known.lengths[row], value.lengths[row]];
      throw inputError(file, `${known.name} and ${name} disagree in row ${row}: ${a} tokens and ${b}`, {
        fields: [known.name, name],
        row,
        tokens: [a, b],
      });
    }
  }
  return known?.lengths;
}

/** Padded width: that of a rectangular mask, else of the widest matrix or response. Which other matrices hold tokens the configuration says. */
function agreeOnWidth(file: string, draft: StepDraft, lengths: Int32Array | undefined): number {
  const longest = lengths?.reduce((a, b) => Math.max(a, b), 0) ?? 0;
  const widthOf = (name: string) => {
    const value = draft.fields[name];
    return value?.kind === "tensor" ? value.shape[1] : undefined;
  };
  const width = widthOf("response_mask");
  if (width === undefined) {
    const others = Object.keys(draft.fields).filter((name) => name !== "features");
    return Math.max(longest, ...others.map((name) => widthOf(name) ?? 0));
  }
  if (longest <= width) return width;
  const row = lengths!.indexOf(longest);
  const message = `row ${row} has ${longest} response tokens, more than response_mask is wide (${width})`;
  throw inputError(file, message, { field: "response_mask", row, tokens: longest, width });
}
