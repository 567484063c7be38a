import { DataflexError } from "../errors.js";
import type { Layout, LengthsColumn, RunsColumn, Scope } from "./tensor.js";

/**
 * Where the tokens in scope lie: row i has the half-open token ranges `[bounds[2k], bounds[2k+1])` for k in
 * `[offsets[i], offsets[i+1])`, ascending, none empty. `counts[i]` is how many tokens that makes, `total` their sum.
 */
export interface Spans {
  readonly rows: number;
  readonly width: number;
  readonly offsets: Int32Array;
  readonly bounds: Int32Array;
  readonly counts: Int32Array;
  readonly total: number;
}

/** One span a row, from its start. `lengths` within [0, width]. */
export function prefixSpans(lengths: Int32Array, width: number): Spans {
  const rows = lengths.length;
  const offsets = new Int32Array(rows + 1);
  const bounds = new Int32Array(rows * 2);
  let at = 0;
  let total = 0;
  for (let i = 0; i < rows; i++) {
    const length = lengths[i]!;
    if (length > 0) bounds[2 * at++ + 1] = length;
    offsets[i + 1] = at;
    total += length;
  }
  return { rows, width, offsets, bounds: bounds.subarray(0, at * 2), counts: lengths, total };
}

/** The ones of a mask. */
export function maskSpans(mask: LengthsColumn | RunsColumn): Spans {
  if (mask.kind === "lengths") return prefixSpans(mask.lengths, mask.width);
  const { rows, width, offsets, bounds } = mask;
  const counts = new Int32Array(rows);
  let total = 0;
  for (let i = 0; i < rows; i++) {
    let count = 0;
    for (let k = offsets[i]!; k < offsets[i + 1]!; k++) count += bounds[2 * k + 1]! - bounds[2 * k]!;
    counts[i] = count;
    total += count;
  }
  return { rows, width, offsets, bounds, counts, total };
}

/**
 * The tokens that `scope` means in `layout`. `responseLengths` (a column's own) win over the layout's; without either, a response
 * spans the whole width.
 *
 * @throws DataflexError INVALID_INPUT when the scope is `mask` and the layout has none
 */
export function spansOf(scope: Scope, layout: Layout, field: string, responseLengths?: Int32Array): Spans {
  if (scope === "response") {
    const lengths = responseLengths ?? layout.lengths ?? new Int32Array(layout.rows).fill(layout.width);
    return prefixSpans(lengths, layout.width);
  }
  if (layout.mask === undefined) {
    throw new DataflexError(
      "INVALID_INPUT",
      `Field "${field}" counts only where response_mask is 1, and no response_mask is known; send response_mask with it.`,
      { field },
    );
  }
  if (layout.mask.rows !== layout.rows) {
    const message = `The mask has ${layout.mask.rows} rows, field "${field}" has ${layout.rows}; send the mask of the same rows.`;
    throw new DataflexError("INVALID_INPUT", message, { field });
  }
  // The mask may come from an earlier put, which was padded otherwise.
  return { ...maskSpans(layout.mask), width: Math.max(layout.width, layout.mask.width) };
}
