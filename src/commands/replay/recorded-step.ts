import { STRING_FIELDS, type StringField } from "../../columns/field-names.js";
import { rowsOf } from "../../columns/field-value.js";
import type { Jagged, Tensor } from "../../columns/tensor.js";
import { defined } from "../../defined.js";
import { inputError } from "./input-error.js";

/**
 * One step as a file recorded it. `fields` are numeric: `(rows,)`, `(rows, width)` or ragged by response; all token matrices
 * agree in rows and width, all ragged ones in their lengths.
 */
export interface RecordedStep extends Readonly<Partial<Record<StringField, readonly string[]>>> {
  readonly step: number;
  readonly rows: number;
  readonly fields: Readonly<Record<string, Tensor | Jagged>>;
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

/** Padded width: that of the rectangular matrices, else the longest response. */
function agreeOnWidth(file: string, draft: StepDraft, lengths: Int32Array | undefined): number {
  let known: { name: string; width: number } | undefined;
  for (const [name, value] of Object.entries(draft.fields)) {
    if (value.kind !== "tensor" || value.shape.length !== 2) continue;
    known ??= { name, width: value.shape[1] };
    if (known.width !== value.shape[1]) {
      throw inputError(file, `${known.name} is ${known.width} tokens wide and ${name} ${value.shape[1]}`, {
        fields: [known.name, name],
        widths: [known.width, value.shape[1]],
      });
    }
  }
  const longest = lengths?.reduce((a, b) => Math.max(a, b), 0) ?? 0;
  if (known !== undefined && longest > known.width) {
    const row = lengths!.indexOf(longest);
    throw inputError(
      file,
      `row ${row} has ${longest} response tokens, more than ${known.name} is wide (${known.width})`,
      {
        field: known.name,
        row,
        tokens: longest,
        width: known.width,
      },
    );
  }
  return known?.width ?? longest;
}
