import { tokenAt } from "../../columns/span-walks.js";
import { DataflexError } from "../../errors.js";
import type { PipelineSpec } from "../../protocol/pipeline-spec.js";
import type { Batch } from "../batch/batch.js";
import { writer } from "../batch/evaluate.js";
import { liveRows } from "../batch/frame.js";
import type { Accepts, Component } from "../components/component-types.js";
import { judgedTogether, keepWhenShort } from "./keep-when-short.js";
import type { Notes } from "./notes.js";
import { readKept, readTokens } from "./read-answer.js";
import { type Action, emptyWeights, NO_WEIGHT, neutralAction } from "./weights.js";

type Rules = Pick<PipelineSpec, "on_empty" | "keep_when_short">;

/** Kept rows as 0/1 weights; rows that are not live stay 0 even if kept. @throws DataflexError COMPONENT, EMPTY_SELECTION. */
export async function selectRows(
  rules: Rules,
  actuator: Component,
  answer: unknown,
  batch: Batch,
  notes: Notes,
): Promise<Action> {
  const chosen = (await readKept(actuator, answer, batch)).filter((row) => batch.live[row] === 1);
  const kept = withFloor(rules, chosen, actuator, batch, notes);
  if (kept.length === 0) return nothingKept(rules, "row", actuator, batch, notes);
  const weights = emptyWeights("row", batch);
  for (const row of kept) weights.values[row] = 1;
  return { weights, kept };
}

/** A 0/1 field as token weights. @throws DataflexError COMPONENT when a value is neither 0 nor 1; EMPTY_SELECTION. */
export async function selectTokens(
  rules: Rules,
  actuator: Component,
  answer: unknown,
  batch: Batch,
  notes: Notes,
): Promise<Action> {
  const field = await readTokens(actuator, answer, batch);
  const { frame } = batch;
  const weights = emptyWeights("token", batch);
  const { starts } = frame.mask;
  writer(field.expression, { ...frame, real: frame.live }, frame.mask, weights.values, "jagged")(0, batch.rows);
  const chosen = liveRows(frame).filter((row) => {
    const own = weights.values.subarray(starts[row]!, starts[row + 1]!);
    const k = own.findIndex((value) => value !== 0 && value !== 1);
    if (k >= 0) throw notBinary(actuator, own[k]!, row, tokenAt(frame.mask, row, k));
    return own.includes(1);
  });
  const kept = withFloor(rules, chosen, actuator, batch, notes);
  const before = new Set(chosen);
  // A row that stays after all stays with every token.
  for (const row of kept) if (!before.has(row)) weights.values.fill(1, starts[row]!, starts[row + 1]!);
  return kept.length === 0 ? nothingKept(rules, "token", actuator, batch, notes) : { weights, kept };
}

function withFloor(rules: Rules, chosen: Int32Array, actuator: Component, batch: Batch, notes: Notes): Int32Array {
  if (rules.keep_when_short === undefined) return chosen;
  const kept = keepWhenShort(rules.keep_when_short, chosen, judgedTogether(actuator, batch));
  notes.count("rows_kept_when_short", kept.length - chosen.length);
  return kept;
}

function nothingKept({ on_empty }: Rules, accepts: Accepts, actuator: Component, batch: Batch, notes: Notes): Action {
  if (on_empty === "error") {
    throw new DataflexError(
      "EMPTY_SELECTION",
      `selector '${actuator.name}' kept none of ${batch.liveCount} live rows; widen its parameters, or set on_empty to drop_all or keep_all`,
      { component: actuator.name, live_rows: batch.liveCount },
    );
  }
  notes.flag("empty_selection");
  if (on_empty === "keep_all") {
    notes.warn(`selector '${actuator.name}' kept nothing: every row is kept (on_empty: keep_all)`);
    return { ...neutralAction(accepts, batch), kept: liveRows(batch.frame) };
  }
  notes.warn(`selector '${actuator.name}' kept nothing: all weights are 0 (on_empty: drop_all), ${NO_WEIGHT}`);
  return { weights: emptyWeights(accepts, batch), kept: new Int32Array(0) };
}

function notBinary(actuator: Component, value: number, row: number, column: number): DataflexError {
  return new DataflexError(
    "COMPONENT",
    `selector '${actuator.name}' gave ${value} at row ${row}, column ${column}: a token is kept (1) or not (0)`,
    { component: actuator.name, row, column, value },
  );
}
