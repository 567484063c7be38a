import { randomUUID } from "node:crypto";
import { type Job, UnrecoverableError, Worker } from "bullmq";
import type { Redis } from "ioredis";
import { DataflexError } from "../../errors.js";
import { Pulse, sleep, within } from "../../lifecycle.js";
import { checkJobData } from "../../protocol/check-messages.js";
import type { JobData, Receipt } from "../../protocol/messages.js";
import { blockingCall } from "../blocking.js";
import { QUEUE_PREFIX } from "../keys.js";

export interface ActiveJob {
  readonly id: string;
  readonly queue: string;
  readonly data: JobData;
  /** After an error the job is not retried. */
  readonly last: boolean;
}

export interface JobConsumerOptions {
  readonly redis: Redis;
  readonly blocking: Redis;
  readonly queues: readonly string[];
  /** Jobs at once, over all queues. */
  readonly slots: number;
  readonly name: string;
  readonly process: (job: ActiveJob) => Promise<Receipt>;
  /** Whether a job of this queue could be worked on now; one that cannot is left to others. Default: always. */
  readonly mayTake?: (queue: string) => boolean;
  readonly onError: (error: unknown) => void;
  /** This consumer found a job whose holder is gone, and put it back. */
  readonly onStalled?: (queue: string) => void;
  /** Called for a job that a stop puts back unfinished. */
  readonly onGivenBack?: (job: JobData) => Promise<void>;
  /** The lock of one of its jobs could not be renewed. */
  readonly onLockLost?: () => void;
}

/** A dead holder's job is free after at most LOCK + 2 × STALLED. Shorter renewals would only cost round trips. */
const LOCK_MS = 5_000;
const STALLED_MS = 2_000;
/** An idle consumer looks this often without being woken, in case a wake-up was lost with another process. */
const BLOCK_S = 2;
/** How soon a consumer that can take nothing looks again. */
const UNABLE_MS = 100;

/** BullMQ gives every worker a connection to wait on, which is never used here. */
class ManualWorker extends Worker<JobData, Receipt> {
  protected override createBackend(): void {
    this.backend = this.backendFactory(this.name, this.opts, { withBlockingConnection: false });
  }
}

/**
 * Takes jobs from several queues with one limit for the process. A slot is reserved *before* a job is fetched, so that no job
 * ever waits in a busy process while another is idle; BullMQ's own loop fetches per queue and cannot guarantee that. So jobs are
 * fetched by hand (BullMQ's manual mode), and an idle consumer sleeps on the markers of all its queues with one connection:
 * the marker of a queue is the key on which BullMQ's own workers sleep (bullmq 6.7, `<prefix>:<queue>:marker`).
 */
export class JobConsumer {
  readonly #options: JobConsumerOptions;
  readonly #workers = new Map<string, Worker<JobData, Receipt>>();
  readonly #active = new Map<string, { job: Job<JobData, Receipt>; token: string; done: Promise<void> }>();
  readonly #abort = new AbortController();
  #loop: Promise<void> | undefined;
  #renewal: NodeJS.Timeout | undefined;
  #slotFreed: (() => void) | undefined;

  constructor(options: JobConsumerOptions) {
    this.#options = options;
  }

  get active(): number {
    return this.#active.size;
  }
  /** Beats each time the loop looks for work, which it does not while every slot is busy. */
  readonly pulse = new Pulse();
  get busy(): boolean {
    return this.#active.size >= this.#options.slots;
  }

  /** When it fails, `stop` closes what was opened. */
  async start(): Promise<void> {
    this.#abort.signal.addEventListener("abort", () => this.#slotFreed?.(), { once: true });
    await this.setQueues(this.#options.queues);
    this.#renewal = setInterval(() => this.#renewLocks(), LOCK_MS / 3);
    this.#loop = this.#run();
  }

  /** The queues to take jobs from, from now on. Jobs at hand are finished, whatever queue they are of. */
  async setQueues(queues: readonly string[]): Promise<void> {
    const { redis, name, onError } = this.#options;
    for (const [queue, worker] of [...this.#workers]) {
      if (queues.includes(queue)) continue;
      this.#workers.delete(queue);
      await worker.close(true);
    }
    for (const queue of queues.filter((queue) => !this.#workers.has(queue))) {
      const worker = new ManualWorker(queue, null, {
        connection: redis,
        prefix: QUEUE_PREFIX,
        name,
        lockDuration: LOCK_MS,
        stalledInterval: STALLED_MS,
        // BullMQ would fail a job that stalls twice without running any processor; our own code settles it as poison instead.
        maxStalledCount: 1_000_000,
        autorun: false,
      });
      worker.on("error", onError);
      worker.on("stalled", () => this.#options.onStalled?.(queue));
      // A queue counts once it can be asked; stop closes it all the same.
      this.#workers.set(queue, worker);
      await worker.waitUntilReady();
      await worker.startStalledCheckTimer();
    }
  }

  /** Fetches nothing more, waits up to `graceMs` for its jobs, and gives back the rest. */
  async stop(graceMs: number): Promise<void> {
    this.#abort.abort(new Error("stopping"));
    await this.#loop;
    const jobs = [...this.#active.values()].map((job) => job.done);
    await within(graceMs, Promise.all(jobs), () => undefined);
    for (const { job, token } of this.#active.values()) {
      await this.#options.onGivenBack?.(job.data).catch(this.#options.onError);
      await job.moveToWait(token).catch(this.#options.onError);
    }
    clearInterval(this.#renewal);
    await Promise.all([...this.#workers.values()].map((w) => w.close(true)));
  }

  async #run(): Promise<void> {
    const { signal } = this.#abort;
    while (!signal.aborted) {
      try {
        await this.#slotFree();
        this.pulse.beat();
        if (signal.aborted) break;
        if (!(await this.#takeOne())) await this.#waitForMarker();
      } catch (error) {
        if (signal.aborted) break;
        this.#options.onError(error);
        await sleep(200, signal).catch(() => {});
      }
    }
  }

  async #slotFree(): Promise<void> {
    while (this.#active.size >= this.#options.slots && !this.#abort.signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#slotFreed = resolve;
      });
    }
  }

  /** The queues from which a job could be taken now. */
  get #open(): [string, Worker<JobData, Receipt>][] {
    const { mayTake = () => true } = this.#options;
    return [...this.#workers].filter(([queue]) => mayTake(queue));
  }

  #next = 0;
  async #takeOne(): Promise<boolean> {
    const queues = this.#open;
    for (let i = 0; i < queues.length; i++) {
      const [queue, worker] = queues[(this.#next + i) % queues.length]!;
      const token = randomUUID();
      const job = await worker.getNextJob(token, { block: false });
      if (!job) continue;
      this.#next = (this.#next + i + 1) % queues.length;
      const key = `${queue} ${job.id}`;
      const done = this.#work(queue, job, token).finally(() => {
        this.#active.delete(key);
        this.#slotFreed?.();
      });
      this.#active.set(key, { job, token, done });
      return true;
    }
    return false;
  }

  async #waitForMarker(): Promise<void> {
    const { blocking } = this.#options;
    const keys = this.#open.map(([, worker]) => worker.toKey("marker"));
    // What it cannot take now it may soon be able to.
    if (keys.length === 0) return sleep(UNABLE_MS, this.#abort.signal);
    const call = () => blocking.bzpopmin(...keys, BLOCK_S);
    const woken = await blockingCall(blocking, BLOCK_S * 1000, call, this.#abort.signal);
    // Start with the queue whose marker woke us: each of the others would cost a round trip.
    if (woken) this.#next = keys.indexOf(woken[0]);
  }

  async #work(queue: string, job: Job<JobData, Receipt>, token: string): Promise<void> {
    const last = job.attemptsMade + 1 >= (job.opts.attempts ?? 1);
    try {
      const receipt = await this.#options.process({
        id: job.id ?? "",
        queue,
        data: checkJobData(job.data),
        last,
      });
      await job.moveToCompleted(receipt, token, false);
    } catch (error) {
      this.#options.onError(error);
      // The job goes back to its queue. (Without its lock this fails as well; another worker has the job then.)
      const reason = error instanceof Error ? error : new Error(String(error));
      // A job that a retry cannot help (one that cannot be read) leaves the queue at once.
      const hopeless = error instanceof DataflexError && !error.retryable;
      await job
        .moveToFailed(hopeless ? new UnrecoverableError(reason.message) : reason, token, false)
        .catch(this.#options.onError);
    }
  }

  #renewLocks(): void {
    for (const { job, token } of this.#active.values()) {
      job.extendLock(token, LOCK_MS).then(
        (renewed) => renewed === 0 && this.#options.onLockLost?.(),
        (error) => {
          this.#options.onLockLost?.();
          this.#options.onError(error);
        },
      );
    }
  }
}
