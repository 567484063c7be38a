import type { FailureRecord, ReleaseRecord, ResultRecord, StepRecord } from "../history/history-record.js";

/** What is known of one step. A result replaces the failure of an earlier attempt, and the other way round. */
export interface JudgedStep {
  readonly step: number;
  readonly trigger: number;
  readonly incarnation: number;
  readonly outcomes: ReadonlyMap<string, ResultRecord | FailureRecord>;
  readonly release: ReleaseRecord | undefined;
}
interface OpenStep extends JudgedStep {
  readonly outcomes: Map<string, ResultRecord | FailureRecord>;
  release: ReleaseRecord | undefined;
}

/** Steps that a verdict looks back on: the longest memory of a rule is 50 steps, and what it holds on to lasts ten more. */
export const WINDOW = 128;

/**
 * The newest steps of a run, ascending, each once however often its records come. A trainer that goes back to a checkpoint takes the steps
 * from there on with it: those of its earlier life do not count.
 */
export class JudgedSteps {
  readonly #steps: OpenStep[] = [];
  /** First step of each incarnation. */
  readonly #began = new Map<number, number>();

  get all(): readonly JudgedStep[] {
    return this.#steps;
  }

  add(record: StepRecord): void {
    const { incarnation } = record;
    if (this.#isPast(record)) return;
    if (record.step < (this.#began.get(incarnation) ?? Number.POSITIVE_INFINITY)) {
      this.#began.set(incarnation, record.step);
      const kept = this.#steps.filter((step) => !this.#isPast(step));
      this.#steps.splice(0, this.#steps.length, ...kept);
    }
    const at = this.#stepOf(record);
    if (record.kind === "released") at.release = record;
    else at.outcomes.set(record.pipeline, record);
    if (this.#steps.length > WINDOW) this.#steps.shift();
  }

  #stepOf({ step, trigger, incarnation }: StepRecord): OpenStep {
    const isAfter = (other: JudgedStep): boolean =>
      other.step < step || (other.step === step && other.trigger < trigger);
    const before = this.#steps.findLastIndex(isAfter);
    const there = this.#steps[before + 1];
    if (there?.step === step && there.trigger === trigger) return there;
    const made: OpenStep = { step, trigger, incarnation, outcomes: new Map(), release: undefined };
    this.#steps.splice(before + 1, 0, made);
    return made;
  }

  /** A later life of the trainer began at this step or before it. */
  #isPast({ incarnation, step }: { readonly incarnation: number; readonly step: number }): boolean {
    for (const [life, began] of this.#began) if (life > incarnation && began <= step) return true;
    return false;
  }
}
