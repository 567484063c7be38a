import { rowsIn } from "../columns/row-ranges.js";
import { takeMaskRows, takeWeightRows } from "../columns/take-rows.js";
import { STAGES, type Stage } from "../protocol/stages.js";
import { errorOf } from "../sentences.js";
import type { PipelineResult } from "./outcomes.js";

/** The rows that a step's weights are for, as row numbers of the step's table, in the order in which the trainer gets them. */
export interface StepRows {
  readonly rows: Int32Array;
  readonly keys?: readonly string[];
}

/** The last stage whose pipelines weigh responses; undefined when none does. */
export function lastStage(results: readonly PipelineResult[]): Stage | undefined {
  const stages = results.filter((p) => p.compact && p.stage !== "pre_rollout").map((p) => p.stage);
  return STAGES.findLast((stage) => stages.includes(stage));
}

/**
 * @param table  keys of all rows of the step, if it has keys
 * @param order  keys of the last stage's rows in the caller's order, if it put all of them: a permutation of the stage's own
 */
export function rowsOfStep(
  results: readonly PipelineResult[],
  last: Stage,
  table: readonly string[] | undefined,
  order: readonly string[] | undefined,
): StepRows {
  const ranges = results.find((p) => p.stage === last && p.compact)!.ranges;
  const rows = rowsIn(ranges);
  if (!table) return { rows };
  if (order?.length !== rows.length) return { rows, keys: Array.from(rows, (row) => table[row]!) };
  const rowOf = new Map(table.map((key, row) => [key, row]));
  return { rows: Int32Array.from(order, (key) => rowOf.get(key)!), keys: order };
}

/** A pipeline's result over the step's rows. Errors: ROWS_CONFLICT for a row that the pipeline did not see. */
export function alignResult(result: PipelineResult, { rows, keys }: StepRows): PipelineResult {
  if (result.stage === "pre_rollout" || !result.compact) return result;
  const own = rowsIn(result.ranges);
  if (own.length === rows.length && own.every((row, i) => row === rows[i])) return result;
  const placeOf = new Map(Array.from(own, (row, i) => [row, i]));
  const order = Int32Array.from(rows, (row, i) => {
    const place = placeOf.get(row);
    if (place !== undefined) return place;
    const name = keys ? `"${keys[i]}"` : String(row);
    const facts = { row: name, pipeline: result.name, stage: result.stage };
    throw errorOf("ROWS_CONFLICT.unseen", facts, { row, pipeline: result.name });
  });
  const newRow = new Int32Array(own.length).fill(-1);
  for (const [i, place] of order.entries()) newRow[place] = i;
  const moved = (list: Int32Array | undefined) =>
    list
      ?.map((row) => newRow[row]!)
      .filter((row) => row >= 0)
      .sort();
  const { padding, extremes } = result;
  return {
    ...result,
    rows: rows.length,
    compact: takeWeightRows(result.compact, order),
    mask: result.mask && takeMaskRows(result.mask, order),
    padding: padding && Uint8Array.from(order, (place) => padding[place]!),
    kept: moved(result.kept),
    dropped: moved(result.dropped),
    ...(extremes && { extremes: { ...extremes, rows: extremes.rows.map((row) => newRow[row]!) } }),
  };
}
