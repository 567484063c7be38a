import type { ExtremeRows } from "../../protocol/statistics-messages.js";

/** How many rows are shown of either end. */
const COUNT = 10;

/** What is known about rows besides their weights. Called only for the chosen rows. */
export interface RowFacts {
  readonly score?: ((row: number) => number) | undefined;
}

/**
 * The live rows with the lowest and the highest weights, ascending; of equal ones, the earlier row. One pass that keeps a short list
 * at either end, so that a large step costs no sort.
 * @param rows live rows, ascending. `weights[k]`: weight of `rows[k]`.
 */
export function extremeRows(
  rows: ArrayLike<number>,
  weights: ArrayLike<number>,
  { score }: RowFacts = {},
): ExtremeRows | undefined {
  if (rows.length === 0) return undefined;
  const before = (a: number, b: number): number => weights[a]! - weights[b]! || a - b;
  const all = rows.length <= 2 * COUNT;
  const chosen = all
    ? Array.from({ length: rows.length }, (_, k) => k).sort(before)
    : [...ends(rows.length, before), ...ends(rows.length, (a, b) => before(b, a)).reverse()];
  return {
    rows: chosen.map((k) => rows[k]!),
    weights: chosen.map((k) => weights[k]!),
    ...(score && { scores: chosen.map((k) => score(rows[k]!)) }),
  };
}

/** The COUNT first indices in the given order. */
function ends(length: number, before: (a: number, b: number) => number): number[] {
  const list: number[] = [];
  for (let k = 0; k < length; k++) {
    const last = list[COUNT - 1];
    // Most rows end here.
    if (last !== undefined && before(k, last) >= 0) continue;
    let at = list.length;
    while (at > 0 && before(k, list[at - 1]!) < 0) at--;
    list.splice(at, 0, k);
    if (list.length > COUNT) list.pop();
  }
  return list;
}
