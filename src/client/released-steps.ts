import type { Redis } from "ioredis";
import type { Handle } from "../protocol/messages.js";
import { runKeys } from "../redis/keys.js";
import { releaseStep } from "../redis/scripts/release.js";

/** How many of the newest are kept: another producer keeps its part of a released step only for a few of its heartbeats. */
const REMEMBERED = 256;

/** Steps that the trainer has released: they stay released even if Redis comes back without them. */
export class ReleasedSteps {
  readonly #redis: Redis;
  readonly #handle: Handle;
  readonly #steps = new Set<string>();

  constructor(redis: Redis, handle: Handle) {
    this.#redis = redis;
    this.#handle = handle;
  }

  add(step: string): void {
    this.#steps.delete(step);
    this.#steps.add(step);
    if (this.#steps.size > REMEMBERED) this.#steps.delete(this.#steps.values().next().value!);
  }

  /** Releases again the steps whose tombstones Redis has lost. */
  async tend(): Promise<void> {
    const { run, incarnation, limits } = this.#handle;
    const steps = [...this.#steps];
    if (steps.length === 0) return;
    const asking = this.#redis.pipeline();
    for (const step of steps) asking.hexists(runKeys(run).step(incarnation, step).status, "released");
    const answers = (await asking.exec()) ?? [];
    for (const [i, step] of steps.entries()) {
      if (answers[i]?.[1] === 0) await releaseStep(this.#redis, { run, incarnation, step }, limits, undefined);
    }
  }
}
