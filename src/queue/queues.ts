import { Queue } from "bullmq";
import type { Redis } from "ioredis";
import type { JobData, Receipt } from "../protocol/messages.js";
import { jobId, QUEUE_PREFIX, queueName } from "../redis/keys.js";

/** How often a job may run: an error of the last attempt is settled as a typed failure, so no job ever ends as failed. */
const ATTEMPTS = 3;

/** The broker's end of the queues: adds jobs under deterministic ids, so that adding twice is one job. */
export class Queues {
  readonly #redis: Redis;
  readonly #onError: (error: unknown) => void;
  readonly #open = new Map<string, Queue<JobData, Receipt>>();

  constructor(redis: Redis, onError: (error: unknown) => void) {
    this.#redis = redis;
    this.#onError = onError;
  }

  async add(fingerprint: string, data: JobData): Promise<void> {
    await this.#queue(queueName(data.stage, fingerprint)).add("step", data, {
      jobId: jobId(data),
      attempts: ATTEMPTS,
      removeOnComplete: true,
      removeOnFail: true,
      stackTraceLimit: 0,
    });
  }

  #queue(name: string): Queue<JobData, Receipt> {
    let queue = this.#open.get(name);
    if (!queue) {
      // A short events stream: nobody reads it for long, and BullMQ writes several entries a job.
      queue = new Queue<JobData, Receipt>(name, {
        connection: this.#redis,
        prefix: QUEUE_PREFIX,
        streams: { events: { maxLen: 1_000 } },
      });
      queue.on("error", this.#onError);
      this.#open.set(name, queue);
    }
    return queue;
  }

  /** Jobs per state of every queue this process has added to. */
  async counts(): Promise<{ queue: string; counts: Record<string, number> }[]> {
    return Promise.all(
      [...this.#open].map(async ([name, queue]) => ({
        queue: name,
        counts: await queue.getJobCounts("waiting", "active", "delayed", "prioritized", "waiting-children", "failed"),
      })),
    );
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map((q) => q.close()));
  }
}
