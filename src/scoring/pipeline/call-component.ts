import { DataflexError } from "../../errors.js";
import type { Batch } from "../batch/batch.js";
import { NonFinite, TensorsNeeded } from "../batch/signals.js";
import { backendName, isTensor, withTensorScope } from "../batch/tensor-backend.js";
import type { Component } from "../components/component-types.js";
import { describeThrown, placeOf, placeText, thrownText } from "../components/thrown-at.js";
import { Notes } from "./notes.js";

/** Components known to use tensors: they get a scope at once instead of being run a second time. */
const usesTensors = new WeakSet<object>();

export interface CallOptions {
  /** Called with the number of tensors a component left behind; by default a warning. */
  readonly onLeak?: (leaked: number) => void;
  /** Fields that it may read beside those that it declares. */
  readonly reads?: readonly string[];
}

/**
 * Calls a component and reads what it returns while its tensors still exist.
 * @param call runs the component on a batch that shows only what it declared. It may run twice, so it creates anything with state (a
 * context with its generator) itself; its notes count only for the run that succeeds.
 * @param read turns what it returned into plain values; lazy fields are computed here.
 * @throws DataflexError COMPONENT with the original as its cause when the component throws; NonFinite and DataflexErrors as they are.
 */
export async function callComponent<T>(
  component: Component,
  batch: Batch,
  notes: Notes,
  call: (batch: Batch, notes: Notes) => unknown,
  read: (answer: unknown, batch: Batch) => Promise<T>,
  options: CallOptions = {},
): Promise<T> {
  const visible = batch.restrict([...component.needs.map((need) => need.name), ...(options.reads ?? [])]);
  try {
    if (!usesTensors.has(component)) {
      try {
        const own = new Notes();
        const value = await withoutScope(component, visible, (shown) => call(shown, own), read);
        notes.absorb(own);
        return value;
      } catch (thrown) {
        if (!(thrown instanceof TensorsNeeded)) throw thrown;
        usesTensors.add(component);
      }
    }
    const own = new Notes();
    const { value, leaked } = await withTensorScope(async (scope) => {
      const scoped = visible.withTensors(scope);
      const returned = call(scoped, own);
      const tidy = !(returned instanceof Promise);
      const answer = await returned;
      const value = await read(answer, scoped);
      if (isTensor(answer)) answer.dispose();
      return { value, tidy };
    });
    notes.absorb(own);
    if (leaked > 0) reportLeak(component, leaked, notes, options);
    return value;
  } catch (thrown) {
    throw explain(component, thrown);
  }
}

async function withoutScope<T>(
  component: Component,
  batch: Batch,
  call: (batch: Batch) => unknown,
  read: (answer: unknown, batch: Batch) => Promise<T>,
): Promise<T> {
  const answer = await call(batch);
  const value = await read(answer, batch);
  if (isTensor(answer)) {
    // It has a tfjs of its own: from now on the tensors that it creates are watched.
    usesTensors.add(component);
    answer.dispose();
  }
  return value;
}

function reportLeak(component: Component, leaked: number, notes: Notes, options: CallOptions): void {
  if (options.onLeak !== undefined) options.onLeak(leaked);
  else {
    notes.warn(
      `${component.kind} '${component.name}' left tensors behind (they were disposed): an asynchronous component must dispose ` +
        `what it makes, and none may be kept`,
    );
    notes.count("leaked_tensors", leaked);
  }
}

/** What a component threw, as an error that names it and the place in its author's code; NonFinite and DataflexErrors of ours as they are. */
export function explain(component: Component, thrown: unknown): unknown {
  if (thrown instanceof NonFinite) return thrown;
  if (thrown instanceof DataflexError) return located(thrown);
  const who = `${component.kind} '${component.name}'`;
  const found = describeThrown(thrown);
  const missing = /Kernel '(\w+)' not registered for backend '(\w+)'/.exec(found.text);
  const message =
    missing === null
      ? `${who} raised ${thrownText(found)}`
      : `${who} uses the operation ${missing[1]}, which backend '${missing[2]}' lacks: choose another --backend or operation`;
  return new DataflexError(
    "COMPONENT",
    message,
    {
      kind: component.kind,
      component: component.name,
      ...found,
      ...(missing && { operation: missing[1], backend: backendName() }),
    },
    { cause: thrown },
  );
}

/** What the batch refused says where it was asked. */
function located(error: DataflexError): DataflexError {
  const place = error.code === "COMPONENT" && error.details.file === undefined ? placeOf(error) : undefined;
  if (place === undefined) return error;
  const { code, message, details } = error;
  return new DataflexError(code, `${message}${placeText(place)}`, { ...details, ...place }, { cause: error });
}
