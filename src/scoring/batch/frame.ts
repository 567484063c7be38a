import type { Spans } from "../../columns/spans.js";

/**
 * What all fields and vectors of one batch share: its size, where its tokens are, and which rows count.
 */
export interface Frame {
  readonly rows: number;
  readonly width: number;
  /** Tokens with `response_mask` 1 in rows that are not padding (all response tokens when the batch has no mask). */
  readonly mask: Spans;
  /** Response tokens (the whole width when lengths are unknown). */
  readonly response: Spans;
  /** Whether response lengths were given, so that `response` says where each response ends. */
  readonly lengthsKnown: boolean;
  /** 1 = neither padding nor dropped for a non-finite value. Other rows are not computed: token reductions give 0. */
  readonly real: Uint8Array;
  /** 1 = real and, where a mask exists, with at least one unmasked token. Only these count in any statistic. */
  readonly live: Uint8Array;
  readonly liveCount: number;
}

/** @param hasMask without a mask no row is fully masked, not even an empty one. */
export function frameOf(
  { rows, width, mask, response, lengthsKnown }: Omit<Frame, "real" | "live" | "liveCount">,
  real: Uint8Array,
  hasMask: boolean,
): Frame {
  const live = real.map((value, i) => (hasMask && mask.counts[i] === 0 ? 0 : value));
  return { rows, width, mask, response, lengthsKnown, real, live, liveCount: live.reduce((n, value) => n + value, 0) };
}

/** Row numbers of the live rows, ascending. */
export function liveRows(frame: Frame): Int32Array {
  const rows = new Int32Array(frame.liveCount);
  let n = 0;
  for (let i = 0; i < frame.rows; i++) if (frame.live[i] === 1) rows[n++] = i;
  return rows;
}
