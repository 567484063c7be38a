import { mergeMasks } from "./merge-compact.js";
import { rowsIn } from "./row-ranges.js";
import type { MaskColumn } from "./tensor.js";

/** A mask and the step's rows that it is for. */
export interface MaskPiece {
  readonly mask: MaskColumn;
  /** Ascending row ranges `[start, stop, …]`. */
  readonly ranges: readonly number[];
}

/**
 * The mask of the rows `ranges`, assembled from those of other row sets; undefined if one of the rows is in none. If several have a
 * row, the last one counts. The width is the largest of the pieces'.
 */
export function gatherMask(pieces: readonly MaskPiece[], ranges: readonly number[]): MaskColumn | undefined {
  const whole = pieces.find((p) => p.ranges.join() === ranges.join());
  if (whole) return whole.mask;
  const places = new Map<number, readonly [MaskColumn, number]>();
  for (const { mask, ranges: of } of pieces) for (const [i, row] of rowsIn(of).entries()) places.set(row, [mask, i]);
  const found = Array.from(rowsIn(ranges), (row) => places.get(row));
  const known = found.filter((place) => place !== undefined);
  if (known.length === 0 || known.length < found.length) return undefined;

  const masks = [...new Set(known.map(([mask]) => mask))];
  const sources = known.map(([mask, row]) => ({ piece: masks.indexOf(mask), row }));
  return mergeMasks(masks, sources);
}
