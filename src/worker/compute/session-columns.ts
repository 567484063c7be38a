import { SESSION_COLUMNS } from "../../columns/field-names.js";
import type { Piece } from "../../columns/merge-columns.js";
import { rowsIn } from "../../columns/row-ranges.js";
import { sameIndexTwice } from "../../columns/session-index.js";
import type { Column, StringsColumn } from "../../columns/tensor.js";
import { errorOf } from "../../sentences.js";
import { missingRows, refuseSome } from "./some-rows.js";

/**
 * `session` and `session_index` of all rows, from the puts that brought them along. Padding rows need neither.
 *
 * @param pieces  in the order of SESSION_COLUMNS
 * @throws DataflexError INVALID_INPUT: some rows of the step have one and others do not; two rows of one session with the same index
 */
export function sessionColumns(
  pieces: readonly (readonly Piece[] | undefined)[],
  uid: Column | undefined,
  rows: number,
  padding: Uint8Array | undefined,
): ReadonlyMap<string, Column> {
  const found = new Map<string, Column>();
  const [session, index] = pieces.map((list, k) => list && valuesOf(SESSION_COLUMNS[k]!, list, rows, padding));
  if (!session) return found;
  const texts = session.map(String);
  found.set("session", stringsColumn(texts));
  if (!index) return found;
  const values = Int32Array.from(index, Number);
  found.set("session_index", { kind: "vector", dtype: "i32", rows, values });
  if (uid?.kind !== "strings") return found;
  const uids = Array.from(uid.index, (k) => uid.table[k]!);
  const twice = sameIndexTwice(uids, texts, values, padding);
  if (!twice) return found;
  const [first, row] = twice;
  throw errorOf("INVALID_INPUT.index_twice", {
    first,
    row,
    uid: uids[row]!,
    session: texts[row]!,
    index: values[row]!,
  });
}

/** Row by row what the puts say. */
function valuesOf(
  column: string,
  pieces: readonly Piece[],
  rows: number,
  padding: Uint8Array | undefined,
): (string | number)[] {
  const values: (string | number | undefined)[] = new Array(rows).fill(undefined);
  for (const { rows: ranges, column: piece } of pieces) {
    for (const [i, row] of rowsIn(ranges).entries()) {
      if (piece.kind === "strings") values[row] = piece.table[piece.index[i]!];
      else if (piece.kind === "vector") values[row] = piece.values[i];
    }
  }
  refuseSome(
    column,
    missingRows(rows, padding, (row) => values[row] !== undefined),
  );
  return values.map((value) => value ?? 0);
}

function stringsColumn(texts: readonly string[]): StringsColumn {
  const numbers = new Map<string, number>();
  const index = Int32Array.from(texts, (text) => {
    if (!numbers.has(text)) numbers.set(text, numbers.size);
    return numbers.get(text)!;
  });
  return { kind: "strings", rows: texts.length, table: [...numbers.keys()], index };
}
