import { isComplete } from "../columns/row-ranges.js";
import type { PipelineSpec } from "../protocol/messages.js";

/**
 * What the broker knows of a step: nothing but the status hash. It decides on this state, never on transitions, so the same
 * announcement read twice, or after a crash at any point, leads to the same jobs.
 */
export interface StepState {
  readonly attempt: number;
  /** Redis ms. */
  readonly deadline: number;
  readonly released: boolean;
  /** Total rows of a stage once its first put has come. */
  readonly rows: ReadonlyMap<string, number>;
  /** `<stage>:<field>` → bitmap of the rows produced. */
  readonly made: ReadonlyMap<string, Uint8Array>;
  readonly settled: ReadonlySet<string>;
}

/** Hash fields to read for the given pipelines, in the order that `parseState` expects their values. */
export function stateFields(pipelines: readonly PipelineSpec[]): string[] {
  const stages = new Set(pipelines.map((p) => p.stage));
  const made = new Set(pipelines.flatMap((p) => p.fields.map((f) => `made:${p.stage}:${f.name}`)));
  return [
    "attempt",
    "deadline",
    "released",
    ...[...stages].map((s) => `rows:${s}`),
    ...made,
    ...pipelines.map((p) => `settled:${p.name}`),
  ];
}

/** Undefined when the step is not there (any more). */
export function parseState(fields: readonly string[], values: readonly (Buffer | null)[]): StepState | undefined {
  const rows = new Map<string, number>();
  const made = new Map<string, Uint8Array>();
  const settled = new Set<string>();
  const byName = new Map(fields.map((f, i) => [f, values[i] ?? null]));
  for (const [name, value] of byName) {
    if (value === null) continue;
    if (name.startsWith("rows:")) rows.set(name.slice(5), Number(String(value)));
    else if (name.startsWith("made:")) made.set(name.slice(5), value);
    else if (name.startsWith("settled:")) settled.add(name.slice(8));
  }
  const attempt = byName.get("attempt");
  if (!attempt) return undefined;
  return {
    attempt: Number(String(attempt)),
    deadline: Number(String(byName.get("deadline"))),
    released: byName.get("released") != null,
    rows,
    made,
    settled,
  };
}

/** Every field of the pipeline has every row. */
export function isReady(state: StepState, pipeline: PipelineSpec): boolean {
  const rows = state.rows.get(pipeline.stage);
  if (rows === undefined) return false;
  return pipeline.fields.every((f) => {
    const bits = state.made.get(`${pipeline.stage}:${f.name}`);
    return bits !== undefined && isComplete(bits, rows);
  });
}

/** Complete and not settled: these need their job. */
export function pending(state: StepState, pipelines: readonly PipelineSpec[]): PipelineSpec[] {
  return pipelines.filter((p) => !state.settled.has(p.name) && isReady(state, p));
}
