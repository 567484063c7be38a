import { DataflexError } from "../errors.js";
import type { Layout, MaskColumn, Scope } from "./tensor.js";

/**
 * A set of tokens, as half-open runs. Row i owns the runs `offsets[i] … offsets[i + 1]`; run q spans the tokens
 * `[bounds[2q], bounds[2q + 1])`, and `before[q]` tokens of the row's set precede it. Runs are ascending, none is empty.
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
  /** Tokens of the set. */
  readonly total: number;
}

/** The tokens whose mask is 1. @throws DataflexError INVALID_INPUT when runs are empty, overlap or leave the width. */
export function maskSpans(mask: MaskColumn): Spans {
  if (mask.kind === "lengths") return prefixSpans(mask.lengths, mask.width);
  return makeSpans(mask.rows, mask.width, mask.offsets, mask.bounds);
}

/** The first `lengths[i]` tokens of each row. @throws DataflexError INVALID_INPUT when a length leaves the width. */
export function prefixSpans(lengths: Int32Array, width: number): Spans {
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
  return prefixSpans(new Int32Array(rows).fill(width), width);
}

/**
 * The tokens that `scope` means in `layout`. `responseLengths` (a column's own) take precedence over the layout's; without either, a response
 * spans the whole width.
 *
 * @throws DataflexError INVALID_INPUT when the scope is `mask` and the layout has none
 */
export function spansOf(scope: Scope, layout: Layout, field: string, responseLengths = layout.lengths): Spans {
  if (scope === "response") {
    return responseLengths ? prefixSpans(responseLengths, layout.width) : fullSpans(layout.rows, layout.width);
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
  // The mask may come from an earlier put with another padding.
  return { ...maskSpans(layout.mask), width: Math.max(layout.width, layout.mask.width) };
}

/** `starts` are 32-bit. */
const MOST_TOKENS = 2 ** 31 - 1;

/** Spans from their runs. @throws DataflexError INVALID_INPUT when runs are empty, overlap or leave the width; LIMIT */
export function makeSpans(rows: number, width: number, offsets: Int32Array, bounds: Int32Array): Spans {
  const before = new Int32Array(bounds.length / 2);
  const counts = new Int32Array(rows);
  const starts = new Int32Array(rows + 1);
  let total = 0;
  for (let i = 0; i < rows; i++) {
    let count = 0;
    let end = 0;
    for (let q = offsets[i]!; q < offsets[i + 1]!; q++) {
      const from = bounds[2 * q]!;
      const to = bounds[2 * q + 1]!;
      // Out-of-range runs would make loops read tokens of a neighbouring row: they are refused here, once for all loops.
      if (from < end || to <= from || to > width) throw badRun(i, from, to, width);
      before[q] = count;
      count += to - from;
      end = to;
    }
    counts[i] = count;
    total += count;
    starts[i + 1] = total;
  }
  if (total > MOST_TOKENS)
    throw new DataflexError("LIMIT", `${total} tokens are more than the ${MOST_TOKENS} that can be told apart`, {
      total,
    });
  return { rows, width, offsets, bounds, before, counts, starts, total };
}

function badRun(row: number, from: number, to: number, width: number): DataflexError {
  return new DataflexError(
    "INVALID_INPUT",
    `row ${row}: token run [${from}, ${to}) is empty, out of order or outside the width ${width}; check the mask and the lengths`,
    { row, from, to, width },
  );
}
