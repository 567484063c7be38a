import { DataflexError } from "../../errors.js";
import type { PipelineSpec } from "../../protocol/pipeline-spec.js";
import { stateOf } from "../../protocol/pipeline-state.js";
import { NO_STATE, readSteps, type StateStep, type StateValue } from "../../protocol/saved-state.js";
import type { Component } from "../components/component-types.js";
import type { PipelineInput, Remembered } from "./outcome.js";

/** What a pipeline remembered of the steps before this one; entries that another scorer or actuator made are left out. */
export function earlierSteps({ spec, run, state = NO_STATE }: PipelineInput): readonly StateStep[] {
  const by = stateOf(spec)?.by;
  if (by === undefined) return [];
  return readSteps(state, by, { step: run.step - 1, trigger: Number.POSITIVE_INFINITY }).steps;
}

/**
 * What a step adds to its pipeline's state; `undefined` for a pipeline that has none.
 * @throws DataflexError COMPONENT for anything that is not a name with finite numbers.
 */
export function remembered(
  component: Component,
  spec: PipelineSpec,
  values: readonly StateValue[],
): Remembered | undefined {
  const state = stateOf(spec);
  if (state === undefined) return undefined;
  const keep = "remember_steps" in component ? component.remember_steps : undefined;
  for (const [name, ...numbers] of values) {
    if (typeof name === "string" && numbers.every(Number.isFinite)) continue;
    throw new DataflexError(
      "COMPONENT",
      `${component.kind} '${component.name}' remembers ${JSON.stringify([name, ...numbers])}: expected a name with finite numbers`,
      { component: component.name },
    );
  }
  return { values, keep: keep ?? state.keep };
}
