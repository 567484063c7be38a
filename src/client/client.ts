import type { Redis } from "ioredis";
import { DataflexError } from "../errors.js";
import { connect, failFast } from "../redis/connect.js";
import { errorOf } from "../sentences.js";
import { BlockingPool } from "./blocking-pool.js";
import { answeredWithin } from "./deadline.js";
import { checkText, checkTimeout } from "./guard.js";
import { type MountOptions, readMounted, requestMount } from "./mount.js";
import { Run } from "./run.js";

export interface ClientOptions {
  /** `redis://…` or `unix:///…`. Default: the environment's DFX_REDIS_URL, then REDIS_URL. */
  readonly redisUrl?: string;
  readonly connectTimeoutMs?: number;
}

/** One round trip: a Redis that takes longer counts as unreachable. */
const ATTACH_MS = 10_000;
/** How long `close` waits until its runs have signed off, all at once; a run that has not stays busy until its heartbeat expires. */
const GOODBYE_MS = 2_000;

/** A trainer's connection to the service. Errors everywhere are `DataflexError`s with a `code`. */
export class Client {
  readonly #redis: Redis;
  readonly #pool: BlockingPool;
  readonly #runs = new Set<Run>();
  #closed = false;

  private constructor(redis: Redis, pool: BlockingPool) {
    this.#redis = redis;
    this.#pool = pool;
  }

  /** Errors: USAGE without an address, REDIS_UNREACHABLE, INVALID_INPUT. */
  static async connect(options: ClientOptions = {}): Promise<Client> {
    const url = options.redisUrl ?? process.env.DFX_REDIS_URL ?? process.env.REDIS_URL;
    if (!url) throw new DataflexError("USAGE", "no Redis address: pass redisUrl, or set DFX_REDIS_URL");
    const patience = options.connectTimeoutMs;
    const pool = new BlockingPool(url);
    const redis = await connect(url, "command", {
      name: "client",
      onElsewhere: () => pool.reconnect(),
      ...(patience === undefined ? {} : { connectTimeoutMs: checkTimeout(patience, 1, "connectTimeoutMs") }),
    });
    return new Client(redis, pool);
  }

  /** Mounts a run. Waits for a broker and a worker until its deadline; see MountOptions for the errors. */
  async mount(options: MountOptions): Promise<Run> {
    this.#assertOpen();
    return this.#keep(new Run(this.#redis, this.#pool, await requestMount(this.#redis, options), true));
  }

  /** Joins a run that another producer (another rank) mounted: it fences no one and sends no heartbeat. Errors: NOT_MOUNTED, REDIS_UNREACHABLE. */
  async attach(runId: string): Promise<Run> {
    this.#assertOpen();
    checkText(runId, "run_id");
    const handle = await answeredWithin(ATTACH_MS, `attach to "${runId}"`, () => readMounted(this.#redis, runId));
    return this.#keep(new Run(this.#redis, this.#pool, handle, false));
  }

  #assertOpen(): void {
    if (this.#closed) throw errorOf("CLOSED.client", {});
  }

  #keep(run: Run): Run {
    this.#runs.add(run);
    return run;
  }

  /** Closes its runs and every connection. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const callOff = failFast(this.#redis, GOODBYE_MS);
    await Promise.all([...this.#runs].map((run) => run.close()));
    callOff();
    this.#pool.close();
    this.#redis.disconnect();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
