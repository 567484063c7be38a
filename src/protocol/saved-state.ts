import { DataflexError } from "../errors.js";
import { pack, unpack } from "./codec.js";

/** A name (a domain, a dataset key) with what one step contributed to it. */
export type StateValue = readonly [name: string, ...numbers: number[]];

/** What one accepted step added to a pipeline's state. */
export interface StateEntry {
  /** Incarnation that settled the step: a later one that repeats the step replaces it. */
  readonly inc: number;
  /** What made the numbers (scorer with parameters, policy): numbers made otherwise are not comparable and are left out. */
  readonly by: string;
  readonly values: readonly StateValue[];
}

/** A pipeline's state in a checkpoint: plain data, which JSON preserves exactly. */
export interface SavedState {
  readonly v: 1;
  readonly pipeline: string;
  /** By step key, `<global_steps>.<trigger>`. */
  readonly steps: Readonly<Record<string, StateEntry>>;
}

/** A pipeline's state as Redis holds it: step keys, and the packed entry of each. */
export interface RawState {
  readonly keys: readonly string[];
  readonly entries: readonly Uint8Array[];
}
export const NO_STATE: RawState = { keys: [], entries: [] };

export interface StateStep {
  readonly step: number;
  readonly trigger: number;
  readonly values: readonly StateValue[];
}

/** An array, so that the settle script reads the incarnation without knowing the rest. */
export function packEntry({ inc, by, values }: StateEntry): Uint8Array {
  return pack([inc, by, values]);
}

/** @throws DataflexError DECODE for anything else than `packEntry` writes. */
export function unpackEntry(bytes: Uint8Array): StateEntry {
  const entry: unknown = unpack(bytes);
  if (Array.isArray(entry) && entry.length === 3) {
    const [inc, by, values] = entry as readonly unknown[];
    const checked = { inc, by, values };
    if (isEntry(checked)) return checked;
  }
  throw new DataflexError(
    "DECODE",
    "a step's entry in a pipeline's state cannot be read: was the key written by hand?",
  );
}

/** Checks a checkpoint's state. @throws DataflexError INVALID_INPUT naming the step. */
export function checkSaved(state: unknown): SavedState {
  const { v, pipeline, steps } = (state ?? {}) as Partial<Record<keyof SavedState, unknown>>;
  if (v !== 1 || typeof pipeline !== "string" || typeof steps !== "object" || steps === null) {
    throw new DataflexError("INVALID_INPUT", "this is no saved state: pass what mixState(pipeline) gave, unchanged");
  }
  for (const [key, entry] of Object.entries(steps)) {
    if (/^\d+\.\d+$/.test(key) && isEntry(entry)) continue;
    throw new DataflexError(
      "INVALID_INPUT",
      `the saved state's step "${key}" cannot be read: is the checkpoint whole?`,
      {
        step: key,
      },
    );
  }
  return state as SavedState;
}

/**
 * The steps of a state that `by` made, in order. `others` counts the rest.
 * @param through last step (inclusive) that counts.
 */
export function readSteps(
  raw: RawState,
  by: string,
  through: { readonly step: number; readonly trigger: number },
): { steps: StateStep[]; others: number } {
  let others = 0;
  const steps: StateStep[] = [];
  for (const [i, key] of raw.keys.entries()) {
    const [step, trigger] = key.split(".").map(Number) as [number, number];
    if (compareSteps({ step, trigger }, through) > 0) continue;
    const entry = unpackEntry(raw.entries[i]!);
    if (entry.by === by) steps.push({ step, trigger, values: entry.values });
    else others++;
  }
  return { steps: steps.sort(compareSteps), others };
}

type StepNumber = { readonly step: number; readonly trigger: number };
export function compareSteps(a: StepNumber, b: StepNumber): number {
  return a.step - b.step || a.trigger - b.trigger;
}

function isEntry(entry: unknown): entry is StateEntry {
  const { inc, by, values } = (entry ?? {}) as Partial<Record<keyof StateEntry, unknown>>;
  return Number.isSafeInteger(inc) && typeof by === "string" && Array.isArray(values) && values.every(isValue);
}

function isValue(value: unknown): value is StateValue {
  if (!Array.isArray(value) || typeof value[0] !== "string") return false;
  return value.slice(1).every((number) => typeof number === "number" && Number.isFinite(number));
}
