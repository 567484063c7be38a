import type { PipelineSpec } from "../../protocol/messages.js";
import type { Frame } from "../batch/frame.js";
import { liveRows } from "../batch/frame.js";

export type Normalize = PipelineSpec["normalize"];

/**
 * What row weights are multiplied by: `row` makes their mean over live rows one, `token` makes Σ w·m = Σ m over live tokens, `none` leaves
 * them. `undefined` when the sum is 0 or not finite: then no factor can help (tiny sums are legitimate).
 * @param weights `(rows,)`, ≥ 0 and finite in live rows.
 */
export function rowFactor(mode: Normalize, weights: Float64Array, frame: Frame): number | undefined {
  if (mode === "none") return 1;
  let have = 0;
  let want = 0;
  for (const i of liveRows(frame)) {
    const share = mode === "row" ? 1 : frame.mask.counts[i]!;
    have += weights[i]! * share;
    want += share;
  }
  return quotient(want, have);
}

/**
 * The same for token weights. `token`: mean one over live tokens; `row`: the rows' mean weights have mean one.
 * @param sums each row's Σ w over its unmasked tokens, `(rows,)`.
 */
export function tokenFactor(mode: Normalize, sums: Float64Array, frame: Frame): number | undefined {
  if (mode === "none") return 1;
  let have = 0;
  let want = 0;
  for (const i of liveRows(frame)) {
    const tokens = frame.mask.counts[i]!;
    have += mode === "token" ? sums[i]! : tokens === 0 ? 0 : sums[i]! / tokens;
    want += mode === "token" ? tokens : 1;
  }
  return quotient(want, have);
}

function quotient(want: number, have: number): number | undefined {
  if (have === 0 || !Number.isFinite(have)) return undefined;
  const factor = want / have;
  return Number.isFinite(factor) ? factor : undefined;
}
