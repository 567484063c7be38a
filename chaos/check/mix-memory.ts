import type { SavedState } from "dataflex-mq";
import type { StepPlan } from "../plan/step-plan.js";
import { type DomainStep, domainStep } from "./reference.js";

/** What a run's mixer should remember, and what it does. */
export class MixMemory {
  #history: DomainStep[] = [];
  readonly #saved = new Map<number, { history: DomainStep[]; state: SavedState }>();
  /** When the memory was last seen whole. */
  #seen = performance.now();

  /** A trainer resumes from the state saved after `step`; 0: from an empty one. */
  goBackTo(step: number): SavedState | undefined {
    const saved = this.#saved.get(step);
    this.#history = saved?.history ?? [];
    return saved?.state;
  }

  /**
   * Reads what the mixer remembers after a step. Its shares came from `histories[0]`, or, where Redis lost data meanwhile (`forgot`), from what is
   * left now.
   */
  async remember(
    plan: StepPlan,
    read: () => Promise<SavedState>,
  ): Promise<{ histories: DomainStep[][]; forgot: boolean; since: number }> {
    const since = this.#seen;
    const whole = [...this.#history.filter((s) => s.step < plan.step), domainStep(plan.step, plan.content)];
    const state = await read();
    this.#seen = performance.now();
    // The step's own entry may be gone by now as well, although its answer included it.
    this.#history = whole.filter((s) => s.step === plan.step || `${s.step}.0` in state.steps);
    this.#saved.set(plan.step, { history: this.#history, state });
    const forgot = this.#history.length < whole.length;
    return { histories: forgot ? [whole, this.#history] : [whole], forgot, since };
  }
}
