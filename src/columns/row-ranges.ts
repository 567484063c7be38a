import { DataflexError } from "../errors.js";

/** Row sets travel as ascending, disjoint, half-open ranges `[start, stop, start, stop, …]`, none empty, none touching the next. */

/**
 * Ranges of strictly ascending row numbers.
 *
 * @throws DataflexError INVALID_INPUT for a number that is no row or not above the one before it
 */
export function rangesOf(indices: ArrayLike<number>): number[] {
  const ranges: number[] = [];
  let previous = -1;
  for (let i = 0; i < indices.length; i++) {
    const row = indices[i]!;
    if (!Number.isSafeInteger(row) || row <= previous) {
      throw new DataflexError(
        "INVALID_INPUT",
        `Row ${row} comes after row ${previous}; name each row once, in order.`,
        {
          row,
        },
      );
    }
    if (row === previous + 1 && ranges.length > 0) ranges[ranges.length - 1] = row + 1;
    else ranges.push(row, row + 1);
    previous = row;
  }
  return ranges;
}

/** @throws DataflexError INVALID_INPUT when `ranges` is not such a list within `[0, total)` */
export function checkRanges(ranges: readonly number[], total: number): void {
  let previous = -1;
  for (let i = 0; i < ranges.length; i += 2) {
    const [start, stop] = [ranges[i], ranges[i + 1]];
    const valid = Number.isSafeInteger(start) && Number.isSafeInteger(stop) && start! > previous && stop! > start!;
    if (!valid || stop! > total) {
      const message = `The row range [${start}, ${stop}) is not after ${previous} and within ${total} rows.`;
      throw new DataflexError("INVALID_INPUT", message, { start, stop, total });
    }
    previous = stop!;
  }
}

/** How many rows the ranges name. */
export function countRows(ranges: readonly number[]): number {
  let count = 0;
  for (let i = 0; i < ranges.length; i += 2) count += ranges[i + 1]! - ranges[i]!;
  return count;
}

/** The rows, one by one. */
export function rowsIn(ranges: readonly number[]): Int32Array {
  const rows = new Int32Array(countRows(ranges));
  let at = 0;
  for (let i = 0; i < ranges.length; i += 2) for (let row = ranges[i]!; row < ranges[i + 1]!; row++) rows[at++] = row;
  return rows;
}

/** One bit per row, as Redis SETBIT counts: row r is bit `0x80 >> (r & 7)` of byte `r >> 3`. `ceil(total / 8)` bytes. */
export function toBitmap(ranges: readonly number[], total: number): Uint8Array {
  checkRanges(ranges, total);
  const bitmap = new Uint8Array(Math.ceil(total / 8));
  for (let i = 0; i < ranges.length; i += 2) {
    for (let row = ranges[i]!; row < ranges[i + 1]!; row++) bitmap[row >> 3]! |= 0x80 >> (row & 7);
  }
  return bitmap;
}

/** The ranges of the rows whose bit is set, of `total` rows. */
export function fromBitmap(bitmap: Uint8Array, total: number): number[] {
  const ranges: number[] = [];
  for (let row = 0; row < total; row++) {
    if ((bitmap[row >> 3]! & (0x80 >> (row & 7))) === 0) continue;
    if (ranges.at(-1) === row) ranges[ranges.length - 1] = row + 1;
    else ranges.push(row, row + 1);
  }
  return ranges;
}

/**
 * The positions of rows among those of `within`, whose rows are numbered from 0.
 *
 * @throws DataflexError INVALID_INPUT for a row that `within` lacks
 */
export function ranksWithin(ranges: readonly number[], within: readonly number[]): number[] {
  const out: number[] = [];
  let [before, k] = [0, 0];
  for (let i = 0; i < ranges.length; i += 2) {
    for (let start = ranges[i]!; start < ranges[i + 1]!; ) {
      while (k < within.length && within[k + 1]! <= start) {
        before += within[k + 1]! - within[k]!;
        k += 2;
      }
      if (k >= within.length || start < within[k]!) {
        throw new DataflexError("INVALID_INPUT", `Row ${start} is not one of the stage's rows.`, { row: start });
      }
      const stop = Math.min(ranges[i + 1]!, within[k + 1]!);
      const first = before + start - within[k]!;
      if (out.at(-1) === first) out[out.length - 1] = first + stop - start;
      else out.push(first, first + stop - start);
      start = stop;
    }
  }
  return out;
}
