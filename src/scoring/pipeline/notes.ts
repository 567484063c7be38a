import { DataflexError } from "../../errors.js";
import type { ComponentRef } from "../../protocol/pipeline-spec.js";
import { seededRng } from "../batch/rng.js";
import type { Component, Context } from "../components/component-types.js";
import type { Flag, RunContext } from "./outcome.js";

/** Warnings and metrics travel with every result: as many, and as long, as anyone reads. */
const MOST = 200;
const LENGTH = 2_000;

/** What running components leaves behind besides their numbers. A run that may be repeated has notes of its own. */
export class Notes {
  readonly #warnings: Set<string>;
  readonly #metrics: Map<string, number>;
  readonly #flags = new Set<Flag>();

  constructor(warnings: Iterable<string> = [], metrics: Readonly<Record<string, number>> = {}) {
    this.#warnings = new Set(warnings);
    this.#metrics = new Map(Object.entries(metrics));
  }

  warn(text: string): void {
    if (this.#warnings.size < MOST) this.#warnings.add(text.slice(0, LENGTH));
  }
  count(name: string, amount: number): void {
    const metric = name.slice(0, LENGTH);
    if (this.#metrics.size >= MOST && !this.#metrics.has(metric)) return;
    this.#metrics.set(metric, (this.#metrics.get(metric) ?? 0) + amount);
  }
  flag(flag: Flag): void {
    this.#flags.add(flag);
  }
  absorb(other: Notes): void {
    for (const text of other.#warnings) this.warn(text);
    for (const [metric, amount] of other.#metrics) this.count(metric, amount);
    for (const flag of other.#flags) this.flag(flag);
  }

  get all(): { metrics: Record<string, number>; flags: Flag[]; warnings: string[] } {
    return { metrics: Object.fromEntries(this.#metrics), flags: [...this.#flags], warnings: [...this.#warnings] };
  }
}

/**
 * The last argument of `score` and `act`.
 * @param pipeline its name, part of the seed, so that two pipelines with the same component draw different numbers.
 * @throws DataflexError CONFIG when the parameters do not fit the component (mount refuses them earlier).
 */
export function componentContext(
  component: Component,
  ref: ComponentRef,
  pipeline: string,
  run: RunContext,
  notes: Notes,
): Context<unknown> {
  const parsed = component.params.safeParse(ref.params);
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => `${issue.path.join(".") || "params"}: ${issue.message}`);
    throw new DataflexError("CONFIG", `${component.kind} '${component.name}': ${problems.join("; ")}`, {
      component: component.name,
      problems,
    });
  }
  return {
    params: parsed.data,
    step: run.step,
    trigger: run.trigger,
    run: run.run,
    rng: seededRng(run.run, run.step, run.trigger, pipeline, component.kind, component.name),
    history: run.history ?? [],
    warn: (text) => notes.warn(text),
    count: (metric, amount) => notes.count(metric, amount),
  };
}
