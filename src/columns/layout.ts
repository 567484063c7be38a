import { defined } from "../defined.js";
import { DataflexError } from "../errors.js";
import { isMaskField } from "./field-names.js";
import { maskOf } from "./mask.js";
import type { Column, FieldValue, Layout, MaskColumn } from "./tensor.js";

export interface LayoutOptions {
  /** Rows of this put. */
  readonly rows: number;
  /** Response lengths in tokens, one per row. They take precedence over the lengths of jagged fields, whose further tokens are padding then. */
  readonly lengths?: ArrayLike<number>;
}

/**
 * Where the tokens of one put are, from its checked fields (`toFieldValue`), all of `rows` rows. Its mask is the field `response_mask`
 * (`mask` in results); its response lengths are `lengths`, else those of the jagged fields, else unknown; its width is that of the widest
 * field.
 *
 * @throws DataflexError INVALID_INPUT: fields of different widths or lengths, a mask element that is neither 0 nor 1, a 1 behind a response's end; each with field and row
 */
export function layoutOf(fields: Readonly<Record<string, FieldValue>>, { rows, lengths }: LayoutOptions): Layout {
  const given = lengths && Int32Array.from(lengths);
  const width = widthOf(fields, given);
  const known = given ?? jaggedLengths(fields);
  const mask = findMask(fields, width);
  if (mask !== undefined && known !== undefined) checkMaskEnds(mask, known);
  return { rows, width, ...defined({ mask, lengths: known }) };
}

/**
 * The layout a reader works with, from the decoded columns of a stage.
 *
 * @throws DataflexError DECODE when columns disagree about rows, or about the response lengths
 */
export function layoutOfColumns(columns: ReadonlyMap<string, Column>, rows: number): Layout {
  let width = 0;
  let lengths: Int32Array | undefined;
  let mask: MaskColumn | undefined;
  for (const [name, column] of columns) {
    if (column.rows !== rows)
      decodeError(`Column "${name}" has ${column.rows} rows, expected ${rows}.`, { field: name });
    if (column.kind === "vector" || column.kind === "strings" || column.kind === "features") continue;
    width = Math.max(width, column.width);
    if (column.kind === "lengths" || column.kind === "runs") {
      if (isMaskField(name) && mask === undefined) mask = column;
    } else if (column.responseLengths !== undefined) {
      const row = lengths?.findIndex((length, i) => length !== column.responseLengths?.[i]) ?? -1;
      if (row >= 0)
        decodeError(`Column "${name}" disagrees with others about the response length of row ${row}.`, { row });
      lengths ??= column.responseLengths;
    }
  }
  if (mask !== undefined && mask.width !== width) mask = { ...mask, width };
  return { rows, width, ...defined({ mask, lengths }) };
}

/** A tensor's width is exact, a jagged field's is the smallest that holds it. */
function widthOf(fields: Readonly<Record<string, FieldValue>>, lengths: Int32Array | undefined): number {
  let exact: { name: string; width: number } | undefined;
  let least = { name: "lengths", width: 0 };
  for (const length of lengths ?? []) least.width = Math.max(least.width, length);
  for (const [name, value] of Object.entries(fields)) {
    if (value.kind === "tensor" && value.shape[1] !== undefined) {
      const width = value.shape[1];
      if (exact !== undefined && exact.width !== width) {
        invalid(`Fields "${exact.name}" and "${name}" are ${exact.width} and ${width} wide; pad them alike.`, {
          field: name,
        });
      }
      exact ??= { name, width };
    } else if (value.kind === "jagged") {
      const longest = value.lengths.reduce((a, b) => Math.max(a, b), 0);
      if (longest > least.width) least = { name, width: longest };
    }
  }
  if (exact !== undefined && least.width > exact.width) {
    const message = `"${least.name}" has ${least.width} tokens in a row, field "${exact.name}" is ${exact.width} wide; pad it further.`;
    invalid(message, { field: least.name });
  }
  if (exact !== undefined) return exact.width;
  let width = least.width;
  for (const value of Object.values(fields)) if (value.kind === "jagged") width = Math.max(width, value.width);
  return width;
}

function jaggedLengths(fields: Readonly<Record<string, FieldValue>>): Int32Array | undefined {
  let first: { name: string; lengths: Int32Array } | undefined;
  for (const [name, value] of Object.entries(fields)) {
    if (value.kind !== "jagged") continue;
    const row = first?.lengths.findIndex((length, i) => length !== value.lengths[i]) ?? -1;
    if (first !== undefined && row >= 0) {
      const [a, b] = [first.lengths[row], value.lengths[row]];
      invalid(
        `Row ${row} has ${a} tokens in "${first.name}" and ${b} in "${name}"; send the response tokens, or lengths.`,
        {
          field: name,
          row,
        },
      );
    }
    first ??= { name, lengths: value.lengths };
  }
  return first?.lengths;
}

function findMask(fields: Readonly<Record<string, FieldValue>>, width: number): MaskColumn | undefined {
  const name = ["response_mask", "mask"].find((mask) => Object.hasOwn(fields, mask));
  if (name === undefined) return undefined;
  const value = fields[name]!;
  if (
    value.kind === "strings" ||
    value.kind === "features" ||
    (value.kind === "tensor" && value.shape[1] === undefined)
  ) {
    return invalid(`Field "${name}" has no token dimension; a mask is (rows, width) or ragged.`, { field: name });
  }
  return maskOf(name, value, width);
}

function checkMaskEnds(mask: MaskColumn, lengths: Int32Array): void {
  for (let row = 0; row < mask.rows; row++) {
    const end = mask.kind === "lengths" ? mask.lengths[row]! : lastStop(mask.offsets, mask.bounds, row);
    if (end > lengths[row]!) {
      invalid(
        `The mask is 1 in row ${row}, column ${end - 1}, behind the response's ${lengths[row]} tokens; fix either.`,
        {
          row,
          column: end - 1,
        },
      );
    }
  }
}

function lastStop(offsets: Int32Array, bounds: Int32Array, row: number): number {
  return offsets[row] === offsets[row + 1] ? 0 : bounds[2 * offsets[row + 1]! - 1]!;
}

function invalid(message: string, details: Record<string, unknown>): never {
  throw new DataflexError("INVALID_INPUT", message, details);
}

function decodeError(message: string, details: Record<string, unknown>): never {
  throw new DataflexError("DECODE", message, details);
}
