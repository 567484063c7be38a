import type { Redis } from "ioredis";
import type { Logger } from "../log.js";
import { queueName } from "../redis/keys.js";
import { listRuns } from "../redis/list-runs.js";
import { readHandle } from "../redis/mounts.js";
import { workerPresence } from "../redis/presence.js";
import type { Queues } from "../redis/queue/queues.js";
import { queueNames } from "../redis/queue/sweep-queue.js";
import type { Steps } from "./steps.js";

/** Keys of all kinds are walked through to find queues that this broker knows nothing of: seldom. */
const FIND_EVERY_MS = 600_000;

/**
 * Jobs go with their steps: a worker that takes a job whose step has ended drops it, but a queue that no worker serves would keep its jobs for
 * ever. Swept are the queues that a broker has added to or seen a worker of; others, of before its time, are found by a walk over the keys.
 */
export class QueueSweep {
  readonly #redis: Redis;
  readonly #queues: Queues;
  readonly #steps: Steps;
  readonly #log: Logger;
  readonly #known = new Set<string>();
  #found = Number.NEGATIVE_INFINITY;

  constructor(redis: Redis, queues: Queues, steps: Steps, log: Logger) {
    this.#redis = redis;
    this.#queues = queues;
    this.#steps = steps;
    this.#log = log;
  }

  async sweep(): Promise<void> {
    for (const name of this.#queues.opened) this.#known.add(name);
    if (performance.now() - this.#found > FIND_EVERY_MS) {
      for (const name of await queueNames(this.#redis)) this.#known.add(name);
      this.#found = performance.now();
    }
    const served = new Set((await workerPresence.alive(this.#redis)).flatMap((worker) => worker.queues));
    for (const name of served) this.#known.add(name);
    const unserved = [...this.#known].filter((name) => !served.has(name));
    if (unserved.length === 0) return;
    const needed = await this.#needed();
    for (const name of unserved) {
      try {
        const gone = await this.#queues.sweep(name, (job) => this.#steps.isMoot(job), needed.has(name));
        if (gone) this.#known.delete(name);
      } catch (error) {
        this.#log.warn({ queue: name, err: String(error) }, "a queue without workers could not be swept");
      }
    }
  }

  /** Queues of the pipelines of mounted runs. */
  async #needed(): Promise<ReadonlySet<string>> {
    const names = new Set<string>();
    for (const keys of await listRuns(this.#redis)) {
      const handle = await readHandle(this.#redis, keys).catch(() => undefined);
      for (const { stage, fingerprint } of handle?.pipelines ?? []) names.add(queueName(stage, fingerprint));
    }
    return names;
  }
}
