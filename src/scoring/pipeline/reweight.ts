import { tokenAt } from "../../columns/span-walks.js";
import { DataflexError } from "../../errors.js";
import type { Batch } from "../batch/batch.js";
import { reduce, writer } from "../batch/evaluate.js";
import { liveRows } from "../batch/frame.js";
import type { TokenField } from "../batch/token-field.js";
import type { Component } from "../components/component-types.js";
import { type Normalize, rowFactor, tokenFactor } from "./normalize.js";
import type { Notes } from "./notes.js";
import { readRows, readTokens } from "./read-answer.js";
import { type Action, emptyWeights, neutralAction } from "./weights.js";

/** Beyond it a weight is infinite in float32. */
const MAX_FLOAT32 = 3.4028234663852886e38;

/** A reweighter's answer as row weights. @throws DataflexError COMPONENT naming the row when a weight is negative or not finite. */
export async function reweightRows(
  mode: Normalize,
  actuator: Component,
  answer: unknown,
  batch: Batch,
  notes: Notes,
): Promise<Action> {
  const { values: raw } = await readRows(actuator, answer, batch);
  const rows = liveRows(batch.frame);
  for (const i of rows) if (!isWeight(raw[i]!)) throw badWeight(actuator, raw[i]!, i);
  const factor = rowFactor(mode, raw, batch.frame);
  const weights = emptyWeights("row", batch);
  if (factor === undefined) return degenerate("row", batch, notes);
  for (const i of rows) weights.values[i] = raw[i]! * factor;
  return allFinite(weights.values) ? { weights } : degenerate("row", batch, notes);
}

/** A reweighter's answer as token weights. @throws DataflexError COMPONENT naming row and column, as `reweightRows`. */
export async function reweightTokens(
  mode: Normalize,
  actuator: Component,
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
  const factor = tokenFactor(mode, sum, frame);
  if (factor === undefined) return degenerate("token", batch, notes);
  const weights = emptyWeights("token", batch);
  const scaled = factor === 1 ? field : field.mul(factor);
  writer(scaled.expression, { ...frame, real: frame.live }, frame.mask, weights.values, "jagged")(0, batch.rows);
  return { weights };
}

function isWeight(value: number): boolean {
  return value >= 0 && value <= MAX_FLOAT32;
}

function allFinite(values: Float32Array): boolean {
  return values.every((value) => value - value === 0);
}

/** No factor makes these weights what was asked for: every row counts as much as another, and the step says so. */
function degenerate(accepts: "row" | "token", batch: Batch, notes: Notes): Action {
  notes.flag("degenerate");
  notes.warn("the weights' sum is 0 or not finite, nothing can be normalised: the step gets neutral weights");
  return neutralAction(accepts, batch);
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
