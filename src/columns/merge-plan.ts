import { DataflexError } from "../errors.js";
import { checkRanges, countRows } from "./row-ranges.js";
import type { Column } from "./tensor.js";

/** Some rows of a column, as one producer sent them. */
export interface Piece {
  /** Ascending, disjoint, half-open ranges of the step's rows. */
  readonly rows: readonly number[];
  readonly column: Column;
}

/** Where a row of the step is found: row `row` of piece `piece`. */
export interface Source {
  readonly piece: number;
  readonly row: number;
}

/**
 * For each row of the step, where it comes from.
 *
 * @throws DataflexError DECODE: a piece whose rows and column disagree, a row that is missing or appears twice
 */
export function planMerge(pieces: readonly Piece[], totalRows: number): Source[] {
  const sources: (Source | undefined)[] = new Array(totalRows).fill(undefined);
  pieces.forEach(({ rows, column }, piece) => {
    checkRanges(rows, totalRows);
    if (countRows(rows) !== column.rows) {
      throw new DataflexError("DECODE", `A put names ${countRows(rows)} rows and its column has ${column.rows}.`, {
        piece,
      });
    }
    let row = 0;
    for (let i = 0; i < rows.length; i += 2) {
      for (let target = rows[i]!; target < rows[i + 1]!; target++) {
        if (sources[target] !== undefined) {
          throw new DataflexError("DECODE", `Row ${target} was sent by two puts of one field.`, { row: target });
        }
        sources[target] = { piece, row: row++ };
      }
    }
  });
  const missing = sources.indexOf(undefined);
  if (missing >= 0) throw new DataflexError("DECODE", `Row ${missing} of ${totalRows} was not sent.`, { row: missing });
  return sources as Source[];
}
