import type { WatchedService } from "../lifecycle.js";
import type { Receipt } from "../protocol/messages.js";
import { Handles } from "../redis/mounts.js";
import {
  type Identity,
  type PythonBeat,
  publishCatalogue,
  type WorkerBeat,
  workerPresence,
} from "../redis/presence.js";
import { type ActiveJob, JobConsumer } from "../redis/queue/job-consumer.js";
import { letGo } from "../redis/scripts/begin.js";
import { Service } from "../redis/service.js";
import { ComponentSet } from "./component-set.js";
import { deviceOf } from "./compute/backend.js";
import type { Backend } from "./compute/thread-messages.js";
import type { JobExecution } from "./job-context.js";
import { processJob } from "./process-job.js";
import { RetiredSets } from "./retired-sets.js";
import { StateCache } from "./state-cache.js";
import { VitalSigns } from "./vitals.js";
import { WORKER_DEFAULTS, type WorkerOptions } from "./worker-options.js";

/** How long a stopping worker waits for its jobs before it puts them back. */
const DRAIN_MS = 30_000;
/** How long a silent server may delay a stopping worker beyond that. */
const GOODBYE_MS = 3_000;

/** Takes jobs from the queues it can serve, scores, settles. Any number may run. */
export class Worker extends Service<WorkerBeat> {
  readonly #options: WorkerOptions;
  readonly #vitals = new VitalSigns();
  readonly #states = new StateCache();
  #handles!: Handles;
  #consumer: JobConsumer | undefined;
  #set: ComponentSet | undefined;
  readonly #retired = new RetiredSets();
  #reloading: Promise<unknown> = Promise.resolve();

  constructor(options: WorkerOptions) {
    const { redisUrl, log } = options;
    super({ redisUrl, log, role: "worker", presence: workerPresence });
    this.#options = options;
  }

  get active(): number {
    return this.#consumer?.active ?? 0;
  }
  get slots(): number {
    return this.#options.slots ?? WORKER_DEFAULTS.slots;
  }
  /** Where tensors live; empty until the worker has started. */
  get backend(): string {
    return this.#set?.backend ?? "";
  }
  /** Tensors alive in all compute threads, each as of its last job. */
  get tensors(): { readonly count: number; readonly bytes: number } {
    const hosts = this.#set?.hosts ?? [];
    const sum = (of: "count" | "bytes"): number => hosts.reduce((n, host) => n + host.tensors[of], 0);
    return { count: sum("count"), bytes: sum("bytes") };
  }
  /** How it runs Python; undefined where no plugin is Python. */
  get python(): PythonBeat | undefined {
    return this.#set?.python;
  }
  get queues(): readonly string[] {
    return [...(this.#set?.queues ?? []), ...this.#retired.queues];
  }
  get requestedBackend(): Backend {
    return this.#options.backend ?? WORKER_DEFAULTS.backend;
  }

  override get isReady(): boolean {
    return this.#set?.isReady === true && super.isReady;
  }

  /** Jobs by queue whose holder died or lost them, seen and put back by this worker: each stall is seen by one worker. */
  readonly stalls = new Map<string, number>();
  /** Renewals of job locks that failed: the job may be given to another worker as well. */
  lostLocks = 0;

  readonly #listeners: ((execution: JobExecution) => void)[] = [];
  /** Calls `listener` for every execution of a job that ends from now on. */
  onExecution(listener: (execution: JobExecution) => void): void {
    this.#listeners.push(listener);
  }

  override watched(): WatchedService {
    const backend = { name: "backend", ok: this.backend !== "", reason: this.backend || "not open yet" };
    const service = super.watched();
    return { ...service, more: [...service.more, backend, ...(this.#set?.checks() ?? [])] };
  }

  protected async open(): Promise<void> {
    this.#set = await ComponentSet.open(this.#options, this.log);
    this.releases.push(() => Promise.all([this.#set?.stop(), this.#retired.stop()]));
    const redis = await this.openRedis();
    this.#handles = new Handles(redis);
    const blocking = await this.openBlocking();
    this.releases.push(() => blocking.disconnect());

    const consumer = new JobConsumer({
      redis,
      blocking,
      queues: this.queues,
      slots: this.slots,
      name: this.id,
      process: (job) => this.#process(job),
      mayTake: (queue) => this.#retired.queues.includes(queue) || this.#set?.mayTake(queue) === true,
      onError: this.onError,
      onStalled: (queue) => void this.stalls.set(queue, (this.stalls.get(queue) ?? 0) + 1),
      onGivenBack: (job) => letGo(redis, job, this.id),
      onLockLost: () => void this.lostLocks++,
    });
    this.#consumer = consumer;
    this.loops.push({ name: "jobs", blocking, pulse: consumer.pulse, resting: () => consumer.busy });
    this.releases.push(() => consumer.stop(DRAIN_MS));
    await consumer.start();
    await this.startHeartbeat(async () => {
      for (const c of this.#set?.catalogues ?? []) await publishCatalogue(redis, c.fingerprint, c.entries);
      if (await this.#retired.look(redis, this.id)) await consumer.setQueues(this.queues);
    });
    this.releases.push(() => this.#reloading);
  }

  /**
   * Loads the plugins again and serves them from now on, if their text is another one. Current jobs end with the components they began with;
   * runs mounted with the previous text get an error that asks them to mount again.
   * @returns whether anything has changed.
   * @throws DataflexError PLUGIN, BACKEND: then everything stays as it was.
   */
  reload(): Promise<boolean> {
    const reloaded = this.#reloading.then(() => this.#reload());
    this.#reloading = reloaded.catch(() => {});
    return reloaded;
  }

  async #reload(): Promise<boolean> {
    const [before, consumer] = [this.#set, this.#consumer];
    if (before === undefined || consumer === undefined) return false;
    const next = await ComponentSet.open(this.#options, this.log);
    if (next.fingerprint === before.fingerprint) {
      await next.stop();
      return false;
    }
    this.#set = next;
    await this.#retired.add(before, next);
    await this.#retired.look(this.redis, this.id);
    await consumer.setQueues(this.queues);
    await this.beatNow();
    return true;
  }

  async #process(job: ActiveJob): Promise<Receipt> {
    const context = {
      redis: this.redis,
      handles: this.#handles,
      workerId: this.id,
      states: this.#states,
      log: this.log,
      computeLimitMs: this.#options.computeLimitMs ?? WORKER_DEFAULTS.computeLimitMs,
      onExecution: (execution: JobExecution) => this.#report(execution),
    };
    const refusal = this.#retired.refusal(job);
    if (refusal) return processJob(job, { run: () => Promise.reject(refusal) }, context);
    const set = this.#set;
    const host = set?.take(job.queue);
    if (!set || !host) throw new Error("a job came without a slot");
    try {
      return await processJob(job, host, context);
    } finally {
      set.giveBack(host);
      if (set !== this.#set) await this.#retired.left(set);
    }
  }

  /** A listener that throws does not change the outcome. */
  #report(execution: JobExecution): void {
    this.#vitals.jobEnded();
    for (const listener of [this.#options.onExecution, ...this.#listeners]) {
      try {
        listener?.(execution);
      } catch (error) {
        this.log.warn({ err: String(error) }, "a listener of job executions failed");
      }
    }
  }

  protected beatFacts(): Omit<WorkerBeat, keyof Identity> {
    const { python } = this;
    const unsound = this.#set?.checks().find(({ ok }) => !ok);
    return {
      fingerprints: this.#set?.fingerprints ?? [],
      queues: this.queues,
      backend: this.backend,
      device: deviceOf(this.backend),
      slots: this.slots,
      active: this.active,
      ready: this.isReady,
      ...(unsound && { unready: unsound.reason }),
      tensor_bytes: this.tensors.bytes,
      ...(python && { python }),
      ...this.#vitals.take(),
    };
  }

  protected get stopMs(): number {
    return this.active > 0 ? DRAIN_MS + GOODBYE_MS : GOODBYE_MS;
  }

  override stop(): Promise<void> {
    this.#vitals.stop();
    return super.stop();
  }
}
