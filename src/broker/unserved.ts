import type { Redis } from "ioredis";
import type { Logger } from "../log.js";
import type { Handle } from "../protocol/messages.js";
import { queueName, runKeys } from "../redis/keys.js";
import { workerPresence } from "../redis/presence.js";

/** Says once, in the log, when the last worker of a living run's pipeline is gone, and when one is there again. */
export class Unserved {
  readonly #redis: Redis;
  readonly #log: Logger;
  /** Names of pipelines by run, as Redis keys spell it. */
  readonly #told = new Map<string, Set<string>>();

  constructor(redis: Redis, log: Logger) {
    this.#redis = redis;
    this.#log = log;
  }

  /** The queues that live workers serve. */
  async served(): Promise<ReadonlySet<string>> {
    return new Set((await workerPresence.alive(this.#redis)).flatMap((worker) => worker.queues));
  }

  async look(encoded: string, handle: Handle, served: ReadonlySet<string>): Promise<void> {
    const told = this.#told.get(encoded) ?? new Set<string>();
    for (const { name, stage, fingerprint } of handle.pipelines) {
      const queue = queueName(stage, fingerprint);
      const facts = { run: handle.run, pipeline: name, queue };
      if (served.has(queue)) {
        if (told.delete(name)) this.#log.info(facts, "a live worker serves this pipeline again");
      } else if (!told.has(name) && (await this.#isLiving(handle))) {
        told.add(name);
        this.#log.warn(
          facts,
          "no live worker serves this pipeline any more: its jobs wait for one that has its components",
        );
      }
    }
    if (told.size > 0) this.#told.set(encoded, told);
    else this.#told.delete(encoded);
  }

  forget(encoded: string): void {
    this.#told.delete(encoded);
  }

  /** Of a run whose trainer is gone nobody waits for anything. */
  async #isLiving({ run }: Handle): Promise<boolean> {
    return (await this.#redis.exists(runKeys(run).trainer)) === 1;
  }
}
