import { DataflexError } from "../../errors.js";
import type { PipelineSpec } from "../../protocol/messages.js";
import { type RawState, readSteps, type StateStep, type StateValue } from "../../protocol/saved-state.js";
import type { Component, Selector } from "../components/component-types.js";
import type { Remembered, RunContext } from "./outcome.js";

/** Steps that are remembered where a component does not say. */
export const REMEMBER_STEPS = 1_000;

/** What the actuator of a pipeline remembered of the steps before this one; what another scorer or actuator told is left out. */
export function earlierSteps(spec: PipelineSpec, state: RawState, run: RunContext): readonly StateStep[] {
  return readSteps(state, makerOf(spec), { step: run.step - 1, trigger: Number.POSITIVE_INFINITY }).steps;
}

/** @throws DataflexError COMPONENT as `checkRemembered`. */
export function rememberedBy(selector: Selector, spec: PipelineSpec, values: readonly StateValue[]): Remembered {
  checkRemembered(selector, values);
  return { by: makerOf(spec), values, steps: selector.remember_steps ?? REMEMBER_STEPS };
}

/** @throws DataflexError COMPONENT for anything that is not a name with finite numbers. */
export function checkRemembered(component: Component, values: readonly StateValue[]): void {
  for (const [name, ...numbers] of values) {
    if (typeof name === "string" && numbers.every(Number.isFinite)) continue;
    throw new DataflexError(
      "COMPONENT",
      `${component.kind} '${component.name}' remembers ${JSON.stringify([name, ...numbers])}: a name with finite numbers is wanted`,
      { component: component.name },
    );
  }
}

function makerOf({ actuator, scorer }: PipelineSpec): string {
  return `${actuator.name} ${scorer === undefined ? "" : `${scorer.name} ${JSON.stringify(scorer.params)}`}`;
}
