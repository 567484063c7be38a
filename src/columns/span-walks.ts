import { makeSpans, type Spans } from "./spans.js";

/** The half-open token ranges of one row. */
export function* runsOf({ offsets, bounds }: Spans, row: number): Generator<readonly [from: number, to: number]> {
  for (let q = offsets[row]!; q < offsets[row + 1]!; q++) yield [bounds[2 * q]!, bounds[2 * q + 1]!];
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

/** Whether two sets hold the same tokens. */
export function sameSpans(a: Spans, b: Spans): boolean {
  return a === b || (sameIntegers(a.offsets, b.offsets) && sameIntegers(a.bounds, b.bounds));
}

function sameIntegers(a: Int32Array, b: Int32Array): boolean {
  return a === b || (a.length === b.length && a.every((value, i) => value === b[i]));
}

/** The column of every token of the set, row after row. */
export function columnsOf({ rows, total, offsets, bounds }: Spans): Int32Array {
  const columns = new Int32Array(total);
  let k = 0;
  for (let q = 0; q < offsets[rows]!; q++) {
    for (let t = bounds[2 * q]!; t < bounds[2 * q + 1]!; t++) columns[k++] = t;
  }
  return columns;
}

/** The same set without the tokens of rows whose `kept` is 0. */
export function keepRows(spans: Spans, kept: Uint8Array): Spans {
  if (!kept.includes(0)) return spans;
  return fromRows(spans, (row, bounds) => {
    if (kept[row] === 1) for (const run of runsOf(spans, row)) bounds.push(...run);
  });
}

/** The tokens of `whole` that are not in `part`. */
export function difference(whole: Spans, part: Spans): Spans {
  return fromRows(whole, (row, bounds) => {
    for (const [start, to] of runsOf(whole, row)) {
      let from = start;
      for (const [cutFrom, cutTo] of runsOf(part, row)) {
        if (cutTo <= from || cutFrom >= to) continue;
        if (cutFrom > from) bounds.push(from, cutFrom);
        from = cutTo;
      }
      if (from < to) bounds.push(from, to);
    }
  });
}

/** Only the last token of each row's set. `before` still counts the tokens in front of it. */
export function lastOf(spans: Spans): Spans {
  const before: number[] = [];
  const single = fromRows(spans, (row, bounds) => {
    const last = lastToken(spans, row);
    if (last < 0) return;
    bounds.push(last, last + 1);
    before.push(spans.counts[row]! - 1);
  });
  return { ...single, before: Int32Array.from(before) };
}

/** Another set of the same rows: `add` appends the bounds of a row's runs. */
function fromRows({ rows, width }: Spans, add: (row: number, bounds: number[]) => void): Spans {
  const offsets = new Int32Array(rows + 1);
  const bounds: number[] = [];
  for (let row = 0; row < rows; row++) {
    add(row, bounds);
    offsets[row + 1] = bounds.length / 2;
  }
  return makeSpans(rows, width, offsets, Int32Array.from(bounds));
}
