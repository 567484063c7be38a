import type { StateStep } from "../../src/protocol/saved-state.js";
import type { Reweighter, Selector } from "../../src/scoring/components/component-types.js";
import { byRow } from "../../src/testing/run-component.js";
import { type FakeField, type FakeOptions, fakeBatch, run } from "../../src/testing.js";

export interface ActOptions extends FakeOptions {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly normalize?: "none" | "row" | "token";
  readonly history?: readonly StateStep[];
  /** Further fields of the batch. */
  readonly fields?: Readonly<Record<string, FakeField>>;
}

/** An actuator on row scores alone; every row has one token. */
export function actOnRows(actuator: Reweighter | Selector, scores: readonly number[], options: ActOptions = {}) {
  const { params, normalize, history, fields, ...fake } = options;
  const batch = fakeBatch({ response_mask: scores.map(() => [1]), uid: scores.map(() => "a"), ...fields }, fake);
  return run(actuator, batch, params, {
    scores: [...scores],
    settings: normalize ? { normalize } : {},
    ...(history && { history }),
  });
}

/** Its weights. */
export async function rowWeights(actuator: Reweighter, scores: readonly number[], options: ActOptions = {}) {
  return [...(await actOnRows(actuator, scores, options)).weights.values];
}

/** The rows it keeps. */
export async function keptRows(selector: Selector, scores: readonly number[], options: ActOptions = {}) {
  return [...(await actOnRows(selector, scores, options)).kept!];
}

/** Token weights, row by row. */
export function tokensOf({ weights }: Awaited<ReturnType<typeof actOnRows>>): number[][] {
  if (weights.kind !== "token") throw new Error("these are row weights");
  return byRow(weights.values, weights.offsets);
}
