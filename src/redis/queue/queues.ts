import { Queue } from "bullmq";
import type { Redis } from "ioredis";
import type { JobData, Receipt } from "../../protocol/messages.js";
import { jobId, QUEUE_PREFIX, queueName } from "../keys.js";
import { removeIfEmpty, removeMoot } from "./sweep-queue.js";

/** How often a job may be executed. An error in the last execution is settled as a typed failure, so no job ever ends as failed. */
const ATTEMPTS = 3;

const JOB_STATES = ["waiting", "active", "delayed", "prioritized", "waiting-children", "failed"] as const;

export interface QueueState {
  readonly queue: string;
  /** Jobs by state. */
  readonly counts: Readonly<Record<string, number>>;
  /** When the oldest waiting job was added, Redis ms; undefined when none waits. */
  readonly oldest: number | undefined;
  readonly paused: boolean;
}

/** The broker's end of the queues: adds jobs under deterministic ids, so that adding twice is one job. */
export class Queues {
  readonly #redis: Redis;
  readonly #onError: (error: unknown) => void;
  readonly #open = new Map<string, Queue<JobData, Receipt>>();
  readonly #readers = new Map<string, Queue<JobData, Receipt>>();

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

  /** Queues to which this process has added jobs. */
  get opened(): string[] {
    return [...this.#open.keys()];
  }

  #queue(name: string): Queue<JobData, Receipt> {
    let queue = this.#open.get(name);
    if (!queue) {
      // A short stream of events: nothing reads far back, and BullMQ writes several entries per job.
      queue = new Queue<JobData, Receipt>(name, {
        connection: this.#redis,
        prefix: QUEUE_PREFIX,
        streams: { events: { maxLen: 2_000 } },
      });
      queue.on("error", this.#onError);
      this.#open.set(name, queue);
    }
    return queue;
  }

  /** State of every queue to which this process has added jobs, and of those named. */
  async counts(also: readonly string[] = []): Promise<QueueState[]> {
    const names = [...new Set([...this.#open.keys(), ...also])];
    return Promise.all(
      names.map(async (queue) => {
        const reader = this.#reader(queue);
        const [counts, [oldest], paused] = await Promise.all([
          reader.getJobCounts(...JOB_STATES),
          reader.getJobs(["waiting"], 0, 0, true),
          reader.isPaused(),
        ]);
        return { queue, counts, oldest: oldest?.data.added, paused };
      }),
    );
  }

  /**
   * Removes what waits in a queue that no worker serves and that nothing needs any more, and the queue itself once it is empty, unless a run
   * needs it. Answers whether the queue went.
   */
  async sweep(name: string, isMoot: (job: JobData) => Promise<boolean>, isNeeded: boolean): Promise<boolean> {
    const queue = this.#reader(name);
    await removeMoot(queue, isMoot);
    if (isNeeded || !(await removeIfEmpty(this.#redis, queue))) return false;
    this.#open.delete(name);
    this.#readers.delete(name);
    await queue.close();
    return true;
  }

  /** Whether a worker has taken this job. */
  async isTaken(queue: string, id: string): Promise<boolean> {
    return (await this.#reader(queue).getJobState(id)) === "active";
  }

  /** A queue opened for reading only writes nothing, not even its settings. */
  #reader(name: string): Queue<JobData, Receipt> {
    const known = this.#open.get(name) ?? this.#readers.get(name);
    if (known) return known;
    const queue = new Queue<JobData, Receipt>(name, {
      connection: this.#redis,
      prefix: QUEUE_PREFIX,
      skipMetasUpdate: true,
    });
    queue.on("error", this.#onError);
    this.#readers.set(name, queue);
    return queue;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values(), ...this.#readers.values()].map((q) => q.close()));
  }
}
