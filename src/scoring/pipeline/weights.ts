import type { Weights } from "../../columns/tensor.js";
import type { Batch } from "../batch/batch.js";
import { liveRows } from "../batch/frame.js";
import type { Accepts } from "../components/component-types.js";
import { sortedSample, weightDistribution } from "../distribution.js";
import { extremeRows, type RowFacts } from "./extremes.js";
import type { Notes } from "./notes.js";
import type { Flag, WeighedOutcome } from "./outcome.js";
import { liveSpans, type Moments, mergeMoments, momentsOf, NO_MOMENTS, weightStats } from "./stats.js";

/** Weights as they will be delivered and, for a selector, the rows it kept. */
export interface Action {
  readonly weights: Weights;
  readonly kept?: Int32Array;
}

/** The statistics of a step whose weights are all 0. */
export const NO_WEIGHT = "only loss terms that ignore the weights (KL, entropy) move the policy in this step";

/** Weight 0 everywhere. */
export function zeroAction(accepts: Accepts, batch: Batch): Action {
  return { weights: emptyWeights(accepts, batch) };
}

/** Weight 1 for every live row or token. */
export function neutralAction(accepts: Accepts, batch: Batch): Action {
  const weights = emptyWeights(accepts, batch);
  for (const i of liveRows(batch.frame)) {
    if (weights.kind === "row") weights.values[i] = 1;
    else weights.values.fill(1, weights.offsets[i]!, weights.offsets[i + 1]!);
  }
  return { weights };
}

export function emptyWeights(accepts: Accepts, batch: Batch): Weights {
  if (accepts === "row") return { kind: "row", values: new Float32Array(batch.rows) };
  const offsets = batch.frame.mask.starts;
  return { kind: "token", offsets, values: new Float32Array(offsets[batch.rows]!) };
}

/** The outcome of an action: its statistics over live rows or tokens, its extreme rows, and the notes. */
export function finish(
  action: Action,
  batch: Batch,
  notes: Notes,
  flags: readonly Flag[] = [],
  facts: RowFacts = {},
): WeighedOutcome {
  for (const flag of flags) notes.flag(flag);
  const { weights, kept } = action;
  const rows = liveRows(batch.frame);
  if (rows.length === 0) notes.flag("no_live_rows");
  const { moments, keptRows, rowWeights } = measure(weights, rows);
  const extremes = extremeRows(rows, rowWeights, facts);
  if (kept !== undefined && rows.length > 0) {
    // A token selector keeps tokens: a row that lost all but one of them does not count as kept.
    const tokens = moments.n - moments.zeros;
    notes.count("kept_frac", weights.kind === "token" ? tokens / moments.n : kept.length / rows.length);
    if (weights.kind === "token") notes.count("kept_tokens", tokens);
  }
  return {
    granularity: weights.kind,
    weights,
    ...(kept !== undefined && { kept }),
    ...(extremes && { extremes }),
    ...(rows.length > 0 && {
      stats: weightStats(moments, keptRows / rows.length),
      distribution: {
        weights: weightDistribution(
          sortedSample(weights.values, liveSpans(rows, weights.kind === "token" ? weights.offsets : undefined)),
        ),
      },
    }),
    ...notes.all,
  };
}

/** Moments of the weights of these rows, and how many of the rows keep any weight. `rowWeights[k]`: weight of the k-th live row; for token weights their mean. */
export function measure(
  weights: Weights,
  rows: Int32Array,
): { moments: Moments; keptRows: number; rowWeights: ArrayLike<number> } {
  if (weights.kind === "row") {
    const live = Float32Array.from(rows, (i) => weights.values[i]!);
    return { moments: momentsOf(live), keptRows: live.filter((weight) => weight > 0).length, rowWeights: live };
  }
  let moments = NO_MOMENTS;
  let keptRows = 0;
  const rowWeights = new Float64Array(rows.length);
  for (let k = 0; k < rows.length; k++) {
    const i = rows[k]!;
    const row = momentsOf(weights.values, weights.offsets[i]!, weights.offsets[i + 1]!);
    if (row.zeros < row.n) keptRows++;
    rowWeights[k] = row.mean;
    moments = mergeMoments(moments, row);
  }
  return { moments, keptRows, rowWeights };
}
