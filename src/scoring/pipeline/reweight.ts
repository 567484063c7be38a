import { tokenAt } from "../../columns/span-walks.js";
import type { Weights } from "../../columns/tensor.js";
import { DataflexError } from "../../errors.js";
import type { Batch } from "../batch/batch.js";
import { reduce, writer } from "../batch/evaluate.js";
import { liveRows } from "../batch/frame.js";
import { RowVector } from "../batch/row-vector.js";
import type { TokenField } from "../batch/token-field.js";
import type { Component, Reweighter } from "../components/component-types.js";
import { type Normalize, rowFactor, tokenFactor } from "./normalize.js";
import type { Notes } from "./notes.js";
import { readRows, readTokens } from "./read-answer.js";
import { type Action, emptyWeights, NO_WEIGHT } from "./weights.js";

/** Beyond it a weight is infinite in float32. */
const MAX_FLOAT32 = 3.4028234663852886e38;

/**
 * A reweighter's answer as row weights. Before they are normalised to mean one they are divided by the largest, so weights that are
 * all tiny keep their proportions; the step gets zeros only if every one of them is 0, which is then the reweighter's decision.
 * @throws DataflexError COMPONENT naming the row when a weight is negative or not finite.
 */
export async function reweightRows(
  mode: Normalize,
  actuator: Reweighter,
  answer: unknown,
  batch: Batch,
  notes: Notes,
): Promise<Action> {
  const given = await readRows(actuator, answer, batch);
  const raw = actuator.in_log_space ? exponentials(mode, given) : given;
  const rows = liveRows(batch.frame);
  for (const i of rows) if (!isWeight(raw.values[i]!)) throw badWeight(actuator, raw.values[i]!, i);
  const weights = emptyWeights("row", batch);
  const peak = raw.max();
  if (peak === 0) return allZero(actuator, weights, notes);
  const relative = mode === "none" ? raw : raw.div(peak);
  const factor = mode === "none" ? 1 : rowFactor(mode, relative.values, batch.frame);
  for (const i of rows) weights.values[i] = relative.values[i]! * factor;
  return { weights };
}

/** A reweighter's answer as token weights. @throws DataflexError COMPONENT naming row and column, as `reweightRows`. */
export async function reweightTokens(
  mode: Normalize,
  actuator: Reweighter,
  answer: unknown,
  batch: Batch,
  notes: Notes,
): Promise<Action> {
  const field = await readTokens(actuator, answer, batch);
  const { frame } = batch;
  const { sum, min, max } = reduce(field.expression, frame, frame.mask, ["sum", "min", "max"]);
  for (const i of liveRows(frame)) {
    const bad = !(min[i]! >= 0 && max[i]! <= MAX_FLOAT32);
    if (bad && frame.mask.counts[i]! > 0) throw badTokenWeight(actuator, field, batch, i);
  }
  const weights = emptyWeights("token", batch);
  const peak = new RowVector(max, frame).max();
  if (peak === 0) return allZero(actuator, weights, notes);
  const factor =
    mode === "none"
      ? 1
      : tokenFactor(
          mode,
          sum.map((total) => total / peak),
          frame,
        );
  const scaled = mode === "none" ? field : field.div(peak).mul(factor);
  writer(scaled.expression, { ...frame, real: frame.live }, frame.mask, weights.values, "jagged")(0, batch.rows);
  return { weights };
}

function isWeight(value: number): boolean {
  return value >= 0 && value <= MAX_FLOAT32;
}

/** Weights from their logarithms: relative to the largest, unless their absolute size was asked for. */
function exponentials(mode: Normalize, logs: RowVector): RowVector {
  const peak = logs.max();
  return mode === "none" || peak === Number.NEGATIVE_INFINITY ? logs.exp() : logs.sub(peak).exp();
}

/** No factor makes the mean of zeros one, and zeros are what the reweighter decided. */
function allZero(actuator: Reweighter, weights: Weights, notes: Notes): Action {
  notes.flag("all_zero");
  notes.warn(`reweighter '${actuator.name}' gave weight 0 everywhere: ${NO_WEIGHT}`);
  return { weights };
}

function badTokenWeight(actuator: Component, field: TokenField, batch: Batch, row: number): DataflexError {
  const { mask } = batch.frame;
  const values = new Float64Array(mask.starts[batch.rows]!);
  writer(field.expression, batch.frame, mask, values, "jagged")(row, row + 1);
  const own = values.subarray(mask.starts[row]!, mask.starts[row + 1]!);
  const k = own.findIndex((value) => !isWeight(value));
  return badWeight(actuator, own[k] ?? Number.NaN, row, tokenAt(mask, row, Math.max(k, 0)));
}

function badWeight(actuator: Component, value: number, row: number, column?: number): DataflexError {
  const where = column === undefined ? `row ${row}` : `row ${row}, column ${column}`;
  return new DataflexError(
    "COMPONENT",
    `${actuator.kind} '${actuator.name}' gave weight ${value} at ${where}: weights must be finite (in float32) and not negative`,
    { component: actuator.name, row, ...(column !== undefined && { column }), value },
  );
}
