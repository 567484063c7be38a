import type { Redis } from "ioredis";
import { DataflexError } from "../errors.js";
import { workerPresence } from "../redis/presence.js";
import type { ActiveJob } from "../redis/queue/job-consumer.js";
import { type ComponentSet, queuesOf } from "./component-set.js";

interface Retired {
  readonly before: string;
  readonly now: string;
  readonly files: string;
}

/** Texts before that are still answered. */
const ANSWERED = 8;

/**
 * What reloads have replaced. Runs that were mounted with a text before would wait for a worker that has it until their deadline; so their
 * jobs are taken and refused, unless another worker lives that has that text still.
 */
export class RetiredSets {
  #retired: Retired[] = [];
  #elsewhere: ReadonlySet<string> = new Set();
  readonly #busy = new Set<ComponentSet>();

  /** Queues whose jobs are refused. */
  get queues(): string[] {
    return this.#retired.filter(({ before }) => !this.#elsewhere.has(before)).flatMap(({ before }) => queuesOf(before));
  }

  /** `next` serves in place of `before`, which is stopped once its last job has ended. */
  async add(before: ComponentSet, next: ComponentSet): Promise<void> {
    const now = next.fingerprint;
    const others = this.#retired.filter((one) => one.before !== now);
    this.#retired = [{ before: before.fingerprint, now, files: before.files }, ...others].slice(0, ANSWERED);
    this.#busy.add(before);
    await this.left(before);
  }

  /** A job has left this set. */
  async left(set: ComponentSet): Promise<void> {
    if (set.isIdle && this.#busy.delete(set)) await set.stop();
  }

  /** Looks who else serves these texts. Answers whether that has changed `queues`. */
  async look(redis: Redis, worker: string): Promise<boolean> {
    if (this.#retired.length === 0) return false;
    const before = this.queues.join();
    const others = (await workerPresence.alive(redis)).filter(({ id }) => id !== worker);
    this.#elsewhere = new Set(others.flatMap(({ fingerprints }) => fingerprints));
    return this.queues.join() !== before;
  }

  /** What a job of a retired text is answered; undefined for every other job. */
  refusal({ queue, data }: ActiveJob): DataflexError | undefined {
    const one = this.#retired.find(({ before }) => queuesOf(before).includes(queue));
    if (one === undefined) return undefined;
    return new DataflexError(
      "PLUGIN",
      `the text of ${one.files} has changed since run "${data.run}" was mounted, and the worker has loaded it again: mount the run again`,
      { plugin: one.files, mounted: one.before, serves: one.now },
    );
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#busy].map((set) => set.stop()));
  }
}
