import type { Redis } from "ioredis";
import type { Logger } from "../log.js";
import type { Handle } from "../protocol/messages.js";
import { queueName, type RunKeys } from "../redis/keys.js";
import { workerPresence } from "../redis/presence.js";

/** Logs once when the last worker of a live run's pipeline is gone, and when there is one again. */
export class Unserved {
  readonly #redis: Redis;
  readonly #log: Logger;
  /** Pipelines that were reported, by encoded run. */
  readonly #reported = new Map<string, Set<string>>();

  constructor(redis: Redis, log: Logger) {
    this.#redis = redis;
    this.#log = log;
  }

  /** The queues that live workers serve. */
  async served(): Promise<ReadonlySet<string>> {
    return new Set((await workerPresence.alive(this.#redis)).flatMap((worker) => worker.queues));
  }

  async look(keys: RunKeys, handle: Handle, served: ReadonlySet<string>): Promise<void> {
    const reported = this.#reported.get(keys.encoded) ?? new Set<string>();
    for (const { name, stage, fingerprint } of handle.pipelines) {
      const queue = queueName(stage, fingerprint);
      const facts = { run: handle.run, pipeline: name, queue };
      if (served.has(queue)) {
        if (reported.delete(name)) this.#log.info(facts, "a live worker serves this pipeline again");
      } else if (!reported.has(name) && (await this.#isLiving(keys))) {
        reported.add(name);
        this.#log.warn(facts, "no live worker serves this pipeline now: its jobs wait for one that has its components");
      }
    }
    if (reported.size > 0) this.#reported.set(keys.encoded, reported);
    else this.forget(keys);
  }

  forget({ encoded }: RunKeys): void {
    this.#reported.delete(encoded);
  }

  /** A run whose trainer is gone needs no worker. */
  async #isLiving({ trainer }: RunKeys): Promise<boolean> {
    return (await this.#redis.exists(trainer)) === 1;
  }
}
