import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Redis } from "ioredis";
import { every, ReleaseStack, type WatchedService } from "../lifecycle.js";
import { type Logger, silentLogger, throttledLog } from "../log.js";
import { workerCatalogues } from "../mounting/catalogue/worker-catalogues.js";
import { PROTOCOL_VERSIONS, type Receipt } from "../protocol/messages.js";
import { STAGES } from "../protocol/stages.js";
import { connect, failFast } from "../redis/connect.js";
import { checkServer } from "../redis/fitness.js";
import { HEARTBEAT_MS, queueName } from "../redis/keys.js";
import { Handles } from "../redis/mounts.js";
import { publishCatalogue, workerPresence } from "../redis/presence.js";
import { type ActiveJob, JobConsumer } from "../redis/queue/job-consumer.js";
import { VERSION } from "../version.js";
import { deviceOf } from "./compute/backend.js";
import { ComputeHost } from "./compute/host.js";
import type { Backend } from "./compute/thread-messages.js";
import { type Attempt, processJob } from "./process-job.js";
import { splitPlugins } from "./python/plugin-files.js";
import { type PythonSettings, type PythonSlots, pythonCheck, startPython } from "./python/python-slots.js";
import { VitalSigns } from "./vitals.js";

export interface WorkerOptions {
  readonly redisUrl: string;
  readonly log?: Logger;
  /** Jobs at once, each with a compute thread of its own. Default 1. */
  readonly slots?: number;
  readonly backend?: Backend;
  /** TypeScript or JavaScript files and packages; Python files (`.py`). */
  readonly plugins?: readonly string[];
  /** How the Python files among the plugins are run. */
  readonly python?: PythonSettings;
  /** Longest time one job may compute, in ms. Default 10 minutes. */
  readonly computeLimitMs?: number;
  readonly onAttempt?: (attempt: Attempt) => void;
}

const COMPUTE_LIMIT_MS = 600_000;
/** What a stopping worker gives its jobs before it puts them back. */
const DRAIN_MS = 30_000;
/** A server that says nothing holds a stopping worker up for so long beyond that. */
const GOODBYE_MS = 3_000;

/** Pulls the jobs of the queues it can serve, scores, settles. Any number may run. */
export class Worker {
  readonly id = randomUUID();
  readonly #options: WorkerOptions;
  readonly #log: Logger;
  readonly #releases = new ReleaseStack();
  readonly #started = Date.now();
  readonly #vitals = new VitalSigns();
  #redis!: Redis;
  #handles!: Handles;
  #consumer!: JobConsumer;
  #idle: ComputeHost[] = [];
  #hosts: readonly ComputeHost[] = [];
  #fingerprints: string[] = [];
  #queues: string[] = [];
  #blocking: Redis | undefined;
  #python: PythonSlots | undefined;
  #stopping = false;
  backend = "";

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#log = options.log ?? silentLogger;
  }

  get redis(): Redis {
    return this.#redis;
  }
  get active(): number {
    return this.#consumer?.active ?? 0;
  }
  get slots(): number {
    return this.#options.slots ?? 1;
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
    return this.#options.backend ?? "auto";
  }

  /** From memory only: what `checks().ready` would find, without asking Redis. */
  get isReady(): boolean {
    return (
      !this.#stopping &&
      this.#redis?.status === "ready" &&
      this.#blocking?.status === "ready" &&
      this.backend !== "" &&
      this.#downSlots.length === 0
    );
  }
  /** Slots whose Python process is not there. */
  get #downSlots(): number[] {
    return (this.#python?.slots ?? []).flatMap((slot, i) => (slot.isUp ? [] : [i]));
  }

  /** Jobs by queue whose holder died or lost them, seen and put back by this worker: each stall is seen by one worker. */
  readonly stalls = new Map<string, number>();
  /** Renewals of job locks that failed: the job may be given to another worker as well. */
  lostLocks = 0;

  readonly #listeners: ((attempt: Attempt) => void)[] = [];
  /** `listener` is told of every finished attempt from now on. */
  onAttempt(listener: (attempt: Attempt) => void): void {
    this.#listeners.push(listener);
  }

  /** What health and readiness are judged by. */
  watched(): WatchedService {
    return {
      redis: this.#redis,
      blocking: this.#blocking ? [this.#blocking] : [],
      loops: this.#consumer ? [{ name: "jobs", age: this.#consumer.pulse.age, resting: this.#consumer.busy }] : [],
      stopping: this.#stopping,
      more: [
        { name: "backend", ok: this.backend !== "", reason: this.backend || "not open yet" },
        ...(this.#python ? [pythonCheck(this.#python, this.#downSlots)] : []),
      ],
    };
  }

  /** Errors: REDIS_UNREACHABLE, REDIS_CONFIG, BACKEND, PLUGIN; nothing stays open then. */
  async start(): Promise<this> {
    try {
      await this.#open();
    } catch (error) {
      await this.stop();
      throw error;
    }
    return this;
  }

  async #open(): Promise<void> {
    const { redisUrl, plugins = [], backend = "auto" } = this.#options;
    const onError = throttledLog((facts) => this.#log.warn(facts, "worker"));
    const files = splitPlugins(plugins);
    if (files.python.length > 0) {
      const python = await startPython(files.python, this.slots, this.#log, this.#options.python);
      this.#python = python;
      this.#releases.push(() => python.stop());
    }
    const declared = this.#python?.ready.components ?? [];
    const catalogues = await workerCatalogues(files.modules, declared);
    const setup = { backend, plugins: files.modules, python: declared };
    this.#idle = Array.from({ length: this.slots }, (_, slot) => new ComputeHost(setup, this.#python?.slots[slot]));
    this.#hosts = [...this.#idle];
    for (const host of this.#hosts) this.#releases.push(() => host.stop());
    for (const host of this.#hosts) this.backend = await host.start();

    this.#redis = await connect(redisUrl, "command", { onError, name: `worker-${this.id}` });
    this.#releases.push(() => this.#redis.disconnect());
    await checkServer(this.#redis);
    this.#handles = new Handles(this.#redis);
    const blocking = await connect(redisUrl, "blocking", { name: `worker-${this.id}` });
    this.#blocking = blocking;
    this.#releases.push(() => blocking.disconnect());

    this.#fingerprints = catalogues.map((c) => c.fingerprint);
    this.#queues = this.#fingerprints.flatMap((f) => STAGES.map((stage) => queueName(stage, f)));
    this.#consumer = new JobConsumer({
      redis: this.#redis,
      blocking,
      queues: this.#queues,
      slots: this.slots,
      name: this.id,
      process: (job) => this.#process(job),
      onError,
      onStalled: (queue) => void this.stalls.set(queue, (this.stalls.get(queue) ?? 0) + 1),
      onLockLost: () => void this.lostLocks++,
    });
    this.#releases.push(() => this.#consumer.stop(DRAIN_MS));
    await this.#consumer.start();

    const beat = async (): Promise<void> => {
      for (const c of catalogues) await publishCatalogue(this.#redis, c.fingerprint, c.entries);
      await this.#beat();
    };
    await beat();
    // Unsaid, the heartbeat ends by itself.
    this.#releases.push(() => workerPresence.leave(this.#redis, this.id).catch(onError));
    this.#releases.push(every(HEARTBEAT_MS, beat, onError));
  }

  async #process(job: ActiveJob): Promise<Receipt> {
    const host = this.#idle.pop();
    if (!host) throw new Error("a job came without a slot");
    try {
      return await processJob(job, host, {
        redis: this.#redis,
        handles: this.#handles,
        workerId: this.id,
        log: this.#log,
        computeLimitMs: this.#options.computeLimitMs ?? COMPUTE_LIMIT_MS,
        onAttempt: (attempt) => this.#tell(attempt),
      });
    } finally {
      this.#idle.push(host);
    }
  }

  /** A listener's error is its own: the attempt's outcome stands. */
  #tell(attempt: Attempt): void {
    this.#vitals.jobEnded();
    for (const listener of [this.#options.onAttempt, ...this.#listeners]) {
      try {
        listener?.(attempt);
      } catch (error) {
        this.#log.warn({ err: String(error) }, "a listener of attempts failed");
      }
    }
  }

  #beat(): Promise<void> {
    return workerPresence.beat(this.#redis, {
      id: this.id,
      pid: process.pid,
      host: hostname(),
      version: VERSION,
      protocol: PROTOCOL_VERSIONS,
      fingerprints: this.#fingerprints,
      queues: this.#queues,
      backend: this.backend,
      device: deviceOf(this.backend),
      slots: this.slots,
      active: this.active,
      ready: this.isReady,
      tensor_bytes: this.tensors.bytes,
      ...this.#vitals.take(),
      http: this.#http,
      started: this.#started,
    });
  }

  #http: string | undefined;
  /** Where this process serves HTTP: told to everybody with the next heartbeat, which is now. */
  announceHttp(address: string): Promise<void> {
    this.#http = address;
    return this.#beat();
  }

  stop(): Promise<void> {
    this.#stopping = true;
    this.#vitals.stop();
    const callOff = failFast(this.#redis, DRAIN_MS + GOODBYE_MS);
    return this.#releases.release().finally(callOff);
  }
}
