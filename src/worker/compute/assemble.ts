import { decodeColumn } from "../../columns/decode.js";
import { layoutOfColumns } from "../../columns/layout.js";
import { mergeColumns, type Piece } from "../../columns/merge-columns.js";
import type { Column, Layout } from "../../columns/tensor.js";
import { DataflexError } from "../../errors.js";
import type { ComputeRequest, PutPart } from "./thread-messages.js";

/** A job's columns, whole and in row order. */
export interface Step {
  readonly layout: Layout;
  readonly columns: ReadonlyMap<string, Column>;
  readonly padding: Uint8Array | undefined;
}

/** Puts the columns of all puts together, in row order. */
export function assemble(request: ComputeRequest): Step {
  const pieces = new Map<string, Piece[]>();
  for (const put of request.puts) {
    for (const header of put.columns) {
      const column = decodeColumn(header, (part) => partOf(put, header.name, header.parts, part), request.limits);
      const list = pieces.get(header.name) ?? [];
      list.push({ rows: put.rows, column });
      pieces.set(header.name, list);
    }
  }
  // The mask first: other columns of several puts may need it to be brought to one form.
  const columns = new Map<string, Column>();
  const names = [...pieces.keys()].sort((a, b) => Number(b === "response_mask") - Number(a === "response_mask"));
  for (const name of names) {
    const list = name === "lengths" || name === "is_padding" ? distinct(pieces.get(name)!) : pieces.get(name)!;
    const whole = list.length === 1 && list[0]!.column.rows === request.rows;
    columns.set(
      name,
      whole ? list[0]!.column : mergeColumns(list, request.rows, layoutOfColumns(columns, request.rows)),
    );
  }
  const lengths = columns.get("lengths");
  const padding = columns.get("is_padding");
  columns.delete("lengths");
  columns.delete("is_padding");
  const found = layoutOfColumns(columns, request.rows);
  const layout = lengths?.kind === "vector" ? { ...found, lengths: Int32Array.from(lengths.values) } : found;
  return { layout, columns, padding: padding?.kind === "vector" ? Uint8Array.from(padding.values) : undefined };
}

/** Layout columns ride along with every put of the same rows: the first of each row range says it all. */
function distinct(list: readonly Piece[]): Piece[] {
  const seen = new Map<string, Piece>();
  for (const piece of list) if (!seen.has(piece.rows.join())) seen.set(piece.rows.join(), piece);
  return [...seen.values()];
}

function partOf(
  put: PutPart,
  column: string,
  parts: Readonly<Record<string, readonly [number, number]>>,
  part: string,
): Uint8Array {
  const place = Object.hasOwn(parts, part) ? parts[part] : undefined;
  if (!place) throw new DataflexError("DECODE", `column "${column}" has no part "${part}"`, { column, part });
  const start = place[0] - put.base;
  if (start < 0 || start + place[1] > put.body.byteLength) {
    throw new DataflexError("DECODE", `column "${column}": part "${part}" lies outside the put's body`, {
      column,
      part,
    });
  }
  return put.body.subarray(start, start + place[1]);
}
