import type { PipelineSpec } from "../../protocol/pipeline-spec.js";
import type { Frame } from "../batch/frame.js";
import { liveRows } from "../batch/frame.js";

export type Normalize = PipelineSpec["normalize"];
type MeanOne = Exclude<Normalize, "none">;

/**
 * What row weights are multiplied by: `row` makes their mean over live rows one, `token` makes Σ w·m = Σ m over live tokens.
 * @param weights `(rows,)`, ≥ 0 in live rows, the largest of them 1: so their sum neither vanishes nor overflows.
 */
export function rowFactor(mode: MeanOne, weights: Float64Array, frame: Frame): number {
  let have = 0;
  let want = 0;
  for (const i of liveRows(frame)) {
    const share = mode === "row" ? 1 : frame.mask.counts[i]!;
    have += weights[i]! * share;
    want += share;
  }
  return meanOne(want, have);
}

/**
 * The same for token weights. `token`: mean one over live tokens; `row`: the rows' mean weights have mean one.
 * @param sums each row's Σ w over its unmasked tokens, `(rows,)`, the largest w of all being 1.
 */
export function tokenFactor(mode: MeanOne, sums: Float64Array, frame: Frame): number {
  let have = 0;
  let want = 0;
  for (const i of liveRows(frame)) {
    const tokens = frame.mask.counts[i]!;
    have += mode === "token" ? sums[i]! : tokens === 0 ? 0 : sums[i]! / tokens;
    want += mode === "token" ? tokens : 1;
  }
  return meanOne(want, have);
}

/** 1 where a batch without a mask has no token to count by. */
function meanOne(want: number, have: number): number {
  return have === 0 ? 1 : want / have;
}
