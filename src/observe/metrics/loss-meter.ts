import type { Meter } from "./meter.js";

/** What a worker counts itself of jobs and locks that were lost. */
export interface LossCounts {
  readonly queues: readonly string[];
  readonly stalls: ReadonlyMap<string, number>;
  readonly lostLocks: number;
}

/** Carries counts that are kept elsewhere over into counters, as their growth since the last look. */
export class LossMeter {
  readonly #meter: Meter;
  readonly #counts: LossCounts;
  readonly #counted = new Map<string, number>();
  #countedLocks = 0;

  constructor(meter: Meter, counts: LossCounts) {
    this.#meter = meter;
    this.#counts = counts;
  }

  record(): void {
    const { queues, stalls, lostLocks } = this.#counts;
    for (const queue of queues) {
      const now = stalls.get(queue) ?? 0;
      this.#meter.inc("dataflex_jobs_stalled_total", { queue }, now - (this.#counted.get(queue) ?? 0));
      this.#counted.set(queue, now);
    }
    this.#meter.inc("dataflex_lock_renewal_failures_total", {}, lostLocks - this.#countedLocks);
    this.#countedLocks = lostLocks;
  }
}
