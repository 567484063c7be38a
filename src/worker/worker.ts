import type { WatchedService } from "../lifecycle.js";
import { workerCatalogues } from "../mounting/catalogue/worker-catalogues.js";
import type { Receipt } from "../protocol/messages.js";
import { STAGES } from "../protocol/stages.js";
import { queueName } from "../redis/keys.js";
import { Handles } from "../redis/mounts.js";
import { type Identity, publishCatalogue, type WorkerBeat, workerPresence } from "../redis/presence.js";
import { type ActiveJob, JobConsumer } from "../redis/queue/job-consumer.js";
import { Service } from "../redis/service.js";
import { deviceOf } from "./compute/backend.js";
import { ComputeHost } from "./compute/host.js";
import type { Backend } from "./compute/thread-messages.js";
import { type JobExecution, processJob } from "./process-job.js";
import { splitPlugins } from "./python/plugin-files.js";
import { type PythonSlots, pythonCheck, startPython } from "./python/python-slots.js";
import { VitalSigns } from "./vitals.js";
import { WORKER_DEFAULTS, type WorkerOptions } from "./worker-options.js";

/** How long a stopping worker waits for its jobs before it puts them back. */
const DRAIN_MS = 30_000;
/** A server that says nothing holds a stopping worker up for so long beyond that. */
const GOODBYE_MS = 3_000;

/** Pulls the jobs of the queues it can serve, scores, settles. Any number may run. */
export class Worker extends Service<WorkerBeat> {
  readonly #options: WorkerOptions;
  readonly #vitals = new VitalSigns();
  #handles!: Handles;
  #consumer: JobConsumer | undefined;
  #idle: ComputeHost[] = [];
  #hosts: readonly ComputeHost[] = [];
  #fingerprints: string[] = [];
  #queues: string[] = [];
  #python: PythonSlots | undefined;
  backend = "";

  constructor(options: WorkerOptions) {
    const { redisUrl, log } = options;
    super({ redisUrl, log, role: "worker", presence: workerPresence, stopMs: DRAIN_MS + GOODBYE_MS });
    this.#options = options;
  }

  get active(): number {
    return this.#consumer?.active ?? 0;
  }
  get slots(): number {
    return this.#options.slots ?? WORKER_DEFAULTS.slots;
  }
  /** Tensors alive in all compute threads, each as of its last job. */
  get tensors(): { readonly count: number; readonly bytes: number } {
    const sum = (of: "count" | "bytes"): number => this.#hosts.reduce((n, host) => n + host.tensors[of], 0);
    return { count: sum("count"), bytes: sum("bytes") };
  }
  get queues(): readonly string[] {
    return this.#queues;
  }
  get requestedBackend(): Backend {
    return this.#options.backend ?? WORKER_DEFAULTS.backend;
  }

  override get isReady(): boolean {
    return (
      this.backend !== "" && this.#hosts.every((host) => host.isUp) && this.#downSlots.length === 0 && super.isReady
    );
  }
  /** Slots whose Python process is down. */
  get #downSlots(): number[] {
    return (this.#python?.slots ?? []).flatMap((slot, i) => (slot.isUp ? [] : [i]));
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
    const python = this.#python ? [pythonCheck(this.#python, this.#downSlots)] : [];
    const down = this.#hosts.filter((host) => !host.isUp).length;
    const reason = down > 0 ? `${down} of ${this.#hosts.length} did not start; each job tries again` : "up";
    const threads = { name: "compute", ok: down === 0, reason };
    return { ...super.watched(), more: [backend, threads, ...python] };
  }

  protected async open(): Promise<void> {
    const { plugins = [] } = this.#options;
    const backend = this.requestedBackend;
    const files = splitPlugins(plugins);
    if (files.python.length > 0) {
      const python = await startPython(files.python, this.slots, this.log, this.#options.python);
      this.#python = python;
      this.releases.push(() => python.stop());
    }
    const declared = this.#python?.ready.components ?? [];
    const catalogues = await workerCatalogues(files.modules, declared);
    const setup = { backend, plugins: files.modules, python: declared };
    this.#idle = Array.from({ length: this.slots }, (_, slot) => new ComputeHost(setup, this.#python?.slots[slot]));
    this.#hosts = [...this.#idle];
    for (const host of this.#hosts) this.releases.push(() => host.stop());
    for (const host of this.#hosts) this.backend = await host.start();

    const redis = await this.openRedis();
    this.#handles = new Handles(redis);
    const blocking = await this.openBlocking();
    this.releases.push(() => blocking.disconnect());

    this.#fingerprints = catalogues.map((c) => c.fingerprint);
    this.#queues = this.#fingerprints.flatMap((f) => STAGES.map((stage) => queueName(stage, f)));
    const consumer = new JobConsumer({
      redis,
      blocking,
      queues: this.#queues,
      slots: this.slots,
      name: this.id,
      process: (job) => this.#process(job),
      onError: this.onError,
      onStalled: (queue) => void this.stalls.set(queue, (this.stalls.get(queue) ?? 0) + 1),
      onLockLost: () => void this.lostLocks++,
    });
    this.#consumer = consumer;
    this.loops.push({ name: "jobs", blocking, pulse: consumer.pulse, resting: () => consumer.busy });
    this.releases.push(() => consumer.stop(DRAIN_MS));
    await consumer.start();
    await this.startHeartbeat(async () => {
      for (const c of catalogues) await publishCatalogue(redis, c.fingerprint, c.entries);
    });
  }

  async #process(job: ActiveJob): Promise<Receipt> {
    const host = this.#idle.pop();
    if (!host) throw new Error("a job came without a slot");
    try {
      return await processJob(job, host, {
        redis: this.redis,
        handles: this.#handles,
        workerId: this.id,
        log: this.log,
        computeLimitMs: this.#options.computeLimitMs ?? WORKER_DEFAULTS.computeLimitMs,
        onExecution: (execution) => this.#report(execution),
      });
    } finally {
      this.#idle.push(host);
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
    return {
      fingerprints: this.#fingerprints,
      queues: this.#queues,
      backend: this.backend,
      device: deviceOf(this.backend),
      slots: this.slots,
      active: this.active,
      ready: this.isReady,
      tensor_bytes: this.tensors.bytes,
      ...this.#vitals.take(),
    };
  }

  override stop(): Promise<void> {
    this.#vitals.stop();
    return super.stop();
  }
}
