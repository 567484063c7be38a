import { decodeColumn } from "../../columns/decode.js";
import { LAYOUT_COLUMNS, SESSION_COLUMNS } from "../../columns/field-names.js";
import { layoutOfColumns } from "../../columns/layout.js";
import { mergeColumns, type Piece } from "../../columns/merge-columns.js";
import { rowsIn } from "../../columns/row-ranges.js";
import type { Column, Layout } from "../../columns/tensor.js";
import { checkStepTokens } from "../../columns/token-limit.js";
import { DataflexError } from "../../errors.js";
import { sessionColumns } from "./session-columns.js";
import { missingRows, refuseSome } from "./some-rows.js";
import type { ComputeRequest, PutPart } from "./thread-messages.js";

/** A job's columns, whole and in row order. */
export interface Step {
  readonly layout: Layout;
  readonly columns: ReadonlyMap<string, Column>;
  readonly padding: Uint8Array | undefined;
}

/** Joins the columns of all puts, in row order. */
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
  const isPadding = paintRows(pieces.get("is_padding"), request.rows);
  const lengths = paintRows(pieces.get("lengths"), request.rows);
  const sessions = SESSION_COLUMNS.map((name) => pieces.get(name));
  for (const name of [...LAYOUT_COLUMNS, ...SESSION_COLUMNS]) pieces.delete(name);
  // The mask first: joining other columns of several puts may need it.
  const columns = new Map<string, Column>();
  const names = [...pieces.keys()].sort((a, b) => Number(b === "response_mask") - Number(a === "response_mask"));
  for (const name of names) {
    const list = pieces.get(name)!;
    checkStepTokens(
      name,
      list.map(({ column }) => column),
      request.limits,
    );
    const whole = list.length === 1 && list[0]!.column.rows === request.rows;
    columns.set(
      name,
      whole ? list[0]!.column : mergeColumns(list, request.rows, layoutOfColumns(columns, request.rows)),
    );
  }
  const padding = isPadding && Uint8Array.from(isPadding.values);
  for (const [name, column] of sessionColumns(sessions, columns.get("uid"), request.rows, padding)) {
    columns.set(name, column);
  }
  const found = layoutOfColumns(columns, request.rows);
  const layout = lengths && found.width > 0 ? { ...found, lengths: responseLengths(lengths, padding) } : found;
  return { layout, columns, padding };
}

/** One number per row, and which rows have one. */
interface RowValues {
  readonly values: Int32Array;
  readonly known: Uint8Array;
}

/** Layout columns ride along with some puts or all, whatever rows these share: a row has what any put of it says. */
function paintRows(pieces: readonly Piece[] | undefined, rows: number): RowValues | undefined {
  if (!pieces) return undefined;
  const painted = { values: new Int32Array(rows), known: new Uint8Array(rows) };
  for (const { rows: ranges, column } of pieces) {
    if (column.kind !== "vector") continue;
    for (const [i, row] of rowsIn(ranges).entries()) {
      painted.values[row] = Number(column.values[i]);
      painted.known[row] = 1;
    }
  }
  return painted;
}

/**
 * Of some rows alone they say nothing of the others': to cut these at their mask would lose a reward on a masked last token, to leave them
 * whole would make their lengths those of the padding.
 */
function responseLengths({ values, known }: RowValues, padding: Uint8Array | undefined): Int32Array {
  refuseSome(
    "lengths",
    missingRows(values.length, padding, (row) => known[row] === 1),
  );
  return values;
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
