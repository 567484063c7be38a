import type { Spans } from "./spans.js";

/**
 * What all fields and vectors of one batch share: its size, where its tokens lie, and which rows count.
 */
export interface Frame {
  readonly rows: number;
  readonly width: number;
  /** Tokens with `response_mask` 1 (all response tokens when the batch has no mask). */
  readonly mask: Spans;
  /** Response tokens (the whole width when lengths are unknown). */
  readonly response: Spans;
  /** 1 = neither padding nor dropped for a non-finite value. Other rows are not computed: token reductions give 0. */
  readonly real: Uint8Array;
  /** 1 = real and, where a mask exists, with at least one unmasked token. Only these count in any statistic. */
  readonly live: Uint8Array;
  readonly liveCount: number;
}

/** Row numbers of the live rows, ascending. */
export function liveRows(frame: Frame): Int32Array {
  const rows = new Int32Array(frame.liveCount);
  let n = 0;
  for (let i = 0; i < frame.rows; i++) if (frame.live[i] === 1) rows[n++] = i;
  return rows;
}
