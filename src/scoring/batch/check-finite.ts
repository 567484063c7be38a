import { rankOf } from "../../columns/span-walks.js";
import type { Spans } from "../../columns/spans.js";
import type { ColumnLeaf } from "./expression.js";
import type { Frame } from "./frame.js";
import { isFloat, type Program } from "./kernel.js";
import { visitTokens } from "./scatter.js";
import { NonFinite } from "./signals.js";

/** Looks for NaN and infinities in the columns that hold one value a row, in live rows that have tokens in `spans`. */
export function checkRowLeaves(program: Program, frame: Frame, spans: Spans): void {
  for (const leaf of program.perRow) {
    const { column } = leaf;
    if (column.kind !== "row" || !isFloat(column.values)) continue;
    const bad: number[] = [];
    for (let i = 0; i < frame.rows; i++) {
      const value = column.values[i]!;
      if (value - value !== 0 && frame.live[i] === 1 && spans.counts[i]! > 0) bad.push(i);
    }
    if (bad.length > 0) reportNonFinite(program, frame, spans, bad);
  }
}

/**
 * Finds the field, column and value behind rows that the loops flagged, and throws. Rows whose fields are all finite (a sum that
 * overflowed) are left alone: their result shows it.
 * @throws NonFinite naming the first bad token and every row in which its field is bad.
 */
export function reportNonFinite(program: Program, frame: Frame, spans: Spans, suspects: readonly number[]): void {
  for (const leaf of [...program.perRow, ...program.contiguous, ...program.scattered]) {
    const rows: number[] = [];
    let first: { column: number; value: number } | undefined;
    for (const row of suspects) {
      const found = findNonFinite(leaf, frame, spans, row);
      if (found === undefined) continue;
      first ??= found;
      rows.push(row);
    }
    if (first !== undefined) throw new NonFinite(`field '${leaf.name}'`, rows, first.column, first.value);
  }
}

function findNonFinite(leaf: ColumnLeaf, frame: Frame, spans: Spans, row: number) {
  let found: { column: number; value: number } | undefined;
  const test = (column: number, value: number) => {
    if (found === undefined && value - value !== 0) found = { column, value };
  };
  const { column } = leaf;
  if (column.kind === "last" || column.kind === "sparse") {
    visitTokens(column, frame, row, (token, value) => {
      if (rankOf(spans, row, token) >= 0) test(token, value);
    });
    return found;
  }
  if (column.kind === "lengths" || column.kind === "runs") return undefined;
  for (let q = spans.offsets[row]!; q < spans.offsets[row + 1]!; q++) {
    const from = spans.bounds[2 * q]!;
    for (let t = from; t < spans.bounds[2 * q + 1]!; t++) {
      if (column.kind === "row") test(t, column.values[row]!);
      else if (column.kind === "dense") test(t, column.values[row * frame.width + t]!);
      else {
        const offset = column.scope === "mask" ? spans.before[q]! + t - from : t;
        test(t, column.values[column.offsets[row]! + offset]!);
      }
    }
  }
  return found;
}
