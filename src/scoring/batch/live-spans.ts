import type { LengthsColumn, RunsColumn } from "../../columns/tensor.js";
import { DataflexError } from "../../errors.js";

/**
 * Which tokens of each row are meant, as half-open runs. Row i owns the runs `offsets[i] … offsets[i + 1]`; run q spans the
 * tokens `[bounds[2q], bounds[2q + 1])`, and `before[q]` tokens of the row's set precede it. All loops over tokens walk these.
 */
export interface Spans {
  readonly rows: number;
  readonly width: number;
  readonly offsets: Int32Array;
  readonly bounds: Int32Array;
  readonly before: Int32Array;
  /** Tokens of the set per row. */
  readonly counts: Int32Array;
  /** Prefix sums of `counts`, rows + 1 entries: where each row starts when the tokens are stored row after row. */
  readonly starts: Int32Array;
}

/** The tokens whose mask is 1. @throws DataflexError INVALID_INPUT when runs are empty, overlap or leave the width. */
export function spansOfMask(mask: LengthsColumn | RunsColumn): Spans {
  if (mask.kind === "lengths") return spansOfLengths(mask.lengths, mask.width);
  return makeSpans(mask.rows, mask.width, mask.offsets, mask.bounds);
}

/** The first `lengths[i]` tokens of each row. @throws DataflexError INVALID_INPUT when a length leaves the width. */
export function spansOfLengths(lengths: Int32Array, width: number): Spans {
  const rows = lengths.length;
  const offsets = new Int32Array(rows + 1);
  const bounds = new Int32Array(2 * rows);
  let runs = 0;
  for (let i = 0; i < rows; i++) {
    const length = lengths[i]!;
    if (length > 0) bounds[2 * runs++ + 1] = length;
    if (length < 0) throw badRun(i, 0, length, width);
    offsets[i + 1] = runs;
  }
  return makeSpans(rows, width, offsets, bounds.subarray(0, 2 * runs));
}

/** Every token of every row. */
export function fullSpans(rows: number, width: number): Spans {
  return spansOfLengths(new Int32Array(rows).fill(width), width);
}

/** The same set without the tokens of rows whose `kept` is 0. */
export function keepRows(spans: Spans, kept: Uint8Array): Spans {
  if (!kept.includes(0)) return spans;
  const offsets = new Int32Array(spans.rows + 1);
  const bounds: number[] = [];
  for (let i = 0; i < spans.rows; i++) {
    if (kept[i] === 1)
      for (const bound of spans.bounds.subarray(2 * spans.offsets[i]!, 2 * spans.offsets[i + 1]!)) bounds.push(bound);
    offsets[i + 1] = bounds.length / 2;
  }
  return makeSpans(spans.rows, spans.width, offsets, Int32Array.from(bounds));
}

/** The tokens of `whole` that are not in `part`. */
export function difference(whole: Spans, part: Spans): Spans {
  const offsets = new Int32Array(whole.rows + 1);
  const bounds: number[] = [];
  for (let i = 0; i < whole.rows; i++) {
    for (let q = whole.offsets[i]!; q < whole.offsets[i + 1]!; q++) {
      let from = whole.bounds[2 * q]!;
      const to = whole.bounds[2 * q + 1]!;
      for (let p = part.offsets[i]!; p < part.offsets[i + 1]!; p++) {
        const cutFrom = part.bounds[2 * p]!;
        const cutTo = part.bounds[2 * p + 1]!;
        if (cutTo <= from || cutFrom >= to) continue;
        if (cutFrom > from) bounds.push(from, cutFrom);
        from = cutTo;
      }
      if (from < to) bounds.push(from, to);
    }
    offsets[i + 1] = bounds.length / 2;
  }
  return makeSpans(whole.rows, whole.width, offsets, Int32Array.from(bounds));
}

/** The last token of each row's set, alone. `before` still counts the tokens in front of it. */
export function lastOf(spans: Spans): Spans {
  const { rows, width, counts } = spans;
  const offsets = new Int32Array(rows + 1);
  const bounds: number[] = [];
  const before: number[] = [];
  for (let i = 0; i < rows; i++) {
    const last = lastToken(spans, i);
    if (last >= 0) {
      bounds.push(last, last + 1);
      before.push(counts[i]! - 1);
    }
    offsets[i + 1] = before.length;
  }
  const single = makeSpans(rows, width, offsets, Int32Array.from(bounds));
  return { ...single, before: Int32Array.from(before) };
}

/** Position of the row's last token in the set; −1 when it has none. */
export function lastToken(spans: Spans, row: number): number {
  const end = spans.offsets[row + 1]!;
  return end > spans.offsets[row]! ? spans.bounds[2 * end - 1]! - 1 : -1;
}

/** How many tokens of the row's set precede `token`; −1 when `token` is not in the set. */
export function rankOf(spans: Spans, row: number, token: number): number {
  let low = spans.offsets[row]!;
  let high = spans.offsets[row + 1]! - 1;
  while (low <= high) {
    const q = (low + high) >> 1;
    const from = spans.bounds[2 * q]!;
    if (token < from) high = q - 1;
    else if (token >= spans.bounds[2 * q + 1]!) low = q + 1;
    else return spans.before[q]! + token - from;
  }
  return -1;
}

/** Position of the row's k-th token in the set: the inverse of `rankOf`. */
export function tokenAt(spans: Spans, row: number, k: number): number {
  let q = spans.offsets[row]!;
  while (q + 1 < spans.offsets[row + 1]! && spans.before[q + 1]! <= k) q++;
  return spans.bounds[2 * q]! + k - spans.before[q]!;
}

/** The column of every token of the set, row after row. */
export function columnsOf({ rows, starts, offsets, bounds }: Spans): Int32Array {
  const columns = new Int32Array(starts[rows]!);
  let k = 0;
  for (let q = 0; q < offsets[rows]!; q++) {
    for (let t = bounds[2 * q]!; t < bounds[2 * q + 1]!; t++) columns[k++] = t;
  }
  return columns;
}

function makeSpans(rows: number, width: number, offsets: Int32Array, bounds: Int32Array): Spans {
  const before = new Int32Array(bounds.length / 2);
  const counts = new Int32Array(rows);
  const starts = new Int32Array(rows + 1);
  for (let i = 0; i < rows; i++) {
    let count = 0;
    let end = 0;
    for (let q = offsets[i]!; q < offsets[i + 1]!; q++) {
      const from = bounds[2 * q]!;
      const to = bounds[2 * q + 1]!;
      // Out-of-range runs would make the fused loops read a neighbour row's tokens: refuse here, once, for all of them.
      if (from < end || to <= from || to > width) throw badRun(i, from, to, width);
      before[q] = count;
      count += to - from;
      end = to;
    }
    counts[i] = count;
    starts[i + 1] = starts[i]! + count;
  }
  return { rows, width, offsets, bounds, before, counts, starts };
}

function badRun(row: number, from: number, to: number, width: number): DataflexError {
  return new DataflexError(
    "INVALID_INPUT",
    `row ${row}: token run [${from}, ${to}) is empty, out of order or outside the width ${width}; check the mask and the lengths`,
    { row, from, to, width },
  );
}
