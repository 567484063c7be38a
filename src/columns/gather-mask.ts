import { rowsIn } from "./row-ranges.js";
import type { MaskColumn } from "./tensor.js";

/** A mask and the step's rows that it is for. */
export interface MaskPiece {
  readonly mask: MaskColumn;
  /** Ascending row ranges `[start, stop, …]`. */
  readonly ranges: readonly number[];
}

/**
 * The mask of the rows `ranges`, put together from those of other row sets; undefined when one of the rows is in none. Of several masks of
 * one row the last counts. The width is the largest of the pieces'.
 */
export function gatherMask(pieces: readonly MaskPiece[], ranges: readonly number[]): MaskColumn | undefined {
  const whole = pieces.find((p) => p.ranges.join() === ranges.join());
  if (whole) return whole.mask;
  const places = new Map<number, readonly [MaskColumn, number]>();
  for (const { mask, ranges: of } of pieces) for (const [i, row] of rowsIn(of).entries()) places.set(row, [mask, i]);
  const found = Array.from(rowsIn(ranges), (row) => places.get(row));
  const known = found.filter((place) => place !== undefined);
  if (known.length === 0 || known.length < found.length) return undefined;

  const { dtype } = known[0]![0];
  const width = Math.max(...known.map(([mask]) => mask.width));
  const base = { dtype, scope: "response", rows: known.length, width } as const;
  const rows = known.map(([mask, i]) =>
    mask.kind === "lengths"
      ? mask.lengths[i]! > 0
        ? [0, mask.lengths[i]!]
        : []
      : Array.from(mask.bounds.subarray(2 * mask.offsets[i]!, 2 * mask.offsets[i + 1]!)),
  );
  if (rows.every((bounds) => bounds.length <= 2 && (bounds[0] ?? 0) === 0)) {
    return { ...base, kind: "lengths", lengths: Int32Array.from(rows, (bounds) => bounds[1] ?? 0) };
  }
  const offsets = new Int32Array(rows.length + 1);
  for (const [i, bounds] of rows.entries()) offsets[i + 1] = offsets[i]! + bounds.length / 2;
  return { ...base, kind: "runs", offsets, bounds: Int32Array.from(rows.flat()) };
}
