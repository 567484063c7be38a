import type { StateStep } from "../../protocol/saved-state.js";

/** What one step showed about a prompt. */
export interface Visit {
  readonly step: number;
  readonly trigger: number;
  readonly numbers: readonly number[];
}

/** What a policy's `feed` remembered of the steps before the one for which prompts are chosen. */
export class PromptHistory {
  /** Ascending. */
  readonly steps: readonly StateStep[];
  #visits: ReadonlyMap<string, readonly Visit[]> | undefined;

  constructor(steps: readonly StateStep[]) {
    this.steps = steps;
  }

  /** Visits of a key, oldest first; none for a key that was never fed. */
  visits(key: string): readonly Visit[] {
    this.#visits ??= byKey(this.steps);
    return this.#visits.get(key) ?? [];
  }

  /** The latest visit of a key. */
  latest(key: string): Visit | undefined {
    return this.visits(key).at(-1);
  }
}

function byKey(steps: readonly StateStep[]): Map<string, Visit[]> {
  const visits = new Map<string, Visit[]>();
  for (const { step, trigger, values } of steps) {
    for (const [key, ...numbers] of values) {
      const known = visits.get(key);
      if (known === undefined) visits.set(key, [{ step, trigger, numbers }]);
      else known.push({ step, trigger, numbers });
    }
  }
  return visits;
}
