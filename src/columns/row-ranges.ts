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

/** One bit a row, as Redis SETBIT counts: row r is bit `0x80 >> (r & 7)` of byte `r >> 3`. `ceil(total / 8)` bytes. */
export function toBitmap(ranges: readonly number[], total: number): Uint8Array {
  checkRanges(ranges, total);
  const bitmap = new Uint8Array(Math.ceil(total / 8));
  for (let i = 0; i < ranges.length; i += 2) {
    for (let row = ranges[i]!; row < ranges[i + 1]!; row++) bitmap[row >> 3]! |= 0x80 >> (row & 7);
  }
  return bitmap;
}

/** Whether rows 0 … total - 1 are all set. A bitmap may be shorter than `total` asks (Redis grows it as bits are set): then no. */
export function isComplete(bitmap: Uint8Array, total: number): boolean {
  const whole = total >> 3;
  if (bitmap.length < Math.ceil(total / 8)) return false;
  for (let i = 0; i < whole; i++) if (bitmap[i] !== 0xff) return false;
  const rest = (0xff00 >> (total & 7)) & 0xff;
  return rest === 0 || (bitmap[whole]! & rest) === rest;
}
