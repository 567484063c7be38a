import type { PipelineSpec } from "../protocol/pipeline-spec.js";

/**
 * What the broker knows of a step: only the status hash. It decides on this state, never on transitions, so the same
 * announcement read twice, or after a crash at any point, leads to the same jobs.
 */
export interface StepState {
  readonly attempt: number;
  /** Redis ms. */
  readonly deadline: number;
  readonly released: boolean;
  /** Stages at which something was put. */
  readonly stages: ReadonlySet<string>;
  /** Complete pipelines → digest of what they are computed from. */
  readonly contents: ReadonlyMap<string, string>;
  readonly settled: ReadonlySet<string>;
}

/** Hash fields to read for the given pipelines, in the order that `parseState` expects their values. */
export function stateFields(pipelines: readonly Pick<PipelineSpec, "name">[]): string[] {
  const own = pipelines.flatMap((p) => [`content:${p.name}`, `settled:${p.name}`]);
  return ["attempt", "deadline", "released", "stages", ...own];
}

/** Undefined if there is no such step (any more). */
export function parseState(fields: readonly string[], values: readonly (string | null)[]): StepState | undefined {
  const contents = new Map<string, string>();
  const settled = new Set<string>();
  const byName = new Map(fields.map((f, i) => [f, values[i] ?? null]));
  for (const [name, value] of byName) {
    if (value === null) continue;
    if (name.startsWith("content:")) contents.set(name.slice(8), value);
    else if (name.startsWith("settled:")) settled.add(name.slice(8));
  }
  const attempt = byName.get("attempt");
  if (!attempt) return undefined;
  return {
    attempt: Number(attempt),
    deadline: Number(byName.get("deadline")),
    released: byName.get("released") != null,
    stages: new Set((byName.get("stages") ?? "").split(",").filter(Boolean)),
    contents,
    settled,
  };
}

/** Pipelines that are complete and not settled: they need a job. */
export function pending(state: StepState, pipelines: readonly PipelineSpec[]): PipelineSpec[] {
  return pipelines.filter((p) => !state.settled.has(p.name) && state.contents.has(p.name));
}
