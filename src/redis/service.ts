import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Redis } from "ioredis";
import { DataflexError } from "../errors.js";
import { every, type Pulse, ReleaseStack, type WatchedService } from "../lifecycle.js";
import { type Logger, silentLogger, throttledLog } from "../log.js";
import { PROTOCOL_VERSIONS } from "../protocol/messages.js";
import { VERSION } from "../version.js";
import { connect, failFast } from "./connect.js";
import { checkServer } from "./fitness.js";
import { HEARTBEAT_MS } from "./keys.js";
import type { Identity, Presence } from "./presence.js";
import { typedRefusal } from "./refusals.js";

/** A loop of a service: the connection on which it waits for work, and a pulse that shows that it is running. */
export interface ServiceLoop {
  readonly name: string;
  readonly blocking: Redis;
  readonly pulse: Pulse;
  /** True while it pauses on purpose. */
  readonly resting?: () => boolean;
}

export interface ServiceSetup<Beat extends Identity> {
  readonly redisUrl: string;
  readonly log: Logger | undefined;
  readonly role: "broker" | "worker";
  readonly presence: Presence<Beat>;
}

/**
 * What a broker and a worker have in common: an id, one command connection to a server that has been checked, a heartbeat, and an
 * orderly start and stop. A subclass opens the rest in `open`, pushing the closer of each thing onto `releases`.
 */
export abstract class Service<Beat extends Identity> {
  readonly id = randomUUID();
  protected readonly log: Logger;
  /** For errors that repeat while the server is away. */
  protected readonly onError: (error: unknown) => void;
  protected readonly releases = new ReleaseStack();
  protected readonly loops: ServiceLoop[] = [];
  readonly #setup: ServiceSetup<Beat>;
  readonly #started = Date.now();
  #redis: Redis | undefined;
  #stopping = false;
  #http: string | undefined;
  /** Why Redis refused the last heartbeat. */
  #refused: string | undefined;

  constructor(setup: ServiceSetup<Beat>) {
    this.#setup = setup;
    const log = setup.log ?? silentLogger;
    this.log = log;
    this.onError = throttledLog((facts) => log.warn(facts, setup.role));
  }

  /** The command connection, once started. */
  get redis(): Redis {
    return this.#redis!;
  }

  /** From memory only: started, not stopping, and every connection is up, and Redis accepts writes. */
  get isReady(): boolean {
    const connections = [this.#redis, ...this.loops.map((loop) => loop.blocking)];
    const connected = this.loops.length > 0 && connections.every((redis) => redis?.status === "ready");
    return connected && !this.#stopping && this.#refused === undefined;
  }

  /** Connects, checks the server, starts the loops. Errors: REDIS_UNREACHABLE, REDIS_CONFIG, REDIS_REFUSED, REDIS_DENIED, and a worker's BACKEND and PLUGIN; nothing stays open then. */
  async start(): Promise<this> {
    try {
      await this.open();
    } catch (error) {
      await this.stop();
      throw typedRefusal(error, `start of a ${this.#setup.role}`);
    }
    return this;
  }

  protected abstract open(): Promise<void>;

  /** How long a silent server may delay a stop that begins now. */
  protected abstract get stopMs(): number;

  /** What the heartbeat contains besides the service's identity. */
  protected abstract beatFacts(): Omit<Beat, keyof Identity>;

  protected async openRedis(): Promise<Redis> {
    const redis = await connect(this.#setup.redisUrl, "command", {
      onError: this.onError,
      name: this.#name,
      endsScripts: true,
    });
    this.#redis = redis;
    this.releases.push(() => redis.disconnect());
    await checkServer(redis);
    return redis;
  }

  /** A connection for one loop to wait on; the caller closes it. */
  protected openBlocking(): Promise<Redis> {
    return connect(this.#setup.redisUrl, "blocking", { name: this.#name });
  }

  /** Sends a heartbeat now and then regularly; `also` runs before each. */
  protected async startHeartbeat(also: () => Promise<void> = async () => {}): Promise<void> {
    const beat = async (): Promise<void> => {
      try {
        await also();
      } finally {
        await this.#beat();
      }
    };
    this.beatNow = beat;
    await beat();
    // If this fails, the heartbeat simply expires.
    this.releases.push(() => this.#setup.presence.leave(this.redis, this.id).catch(this.onError));
    this.releases.push(every(HEARTBEAT_MS, beat, this.onError));
  }

  /** A heartbeat out of turn: what it says has changed. */
  protected beatNow = async (): Promise<void> => {};

  /** Publishes where this process serves HTTP, with a heartbeat at once. */
  announceHttp(address: string): Promise<void> {
    this.#http = address;
    return this.#beat();
  }

  /** The facts by which health and readiness are judged. */
  watched(): WatchedService {
    return {
      redis: this.#redis,
      blocking: this.loops.map((loop) => loop.blocking),
      loops: this.loops.map(({ name, pulse, resting }) => ({ name, age: pulse.age, resting: resting?.() ?? false })),
      stopping: this.#stopping,
      more: [{ name: "redis_writes", ok: this.#refused === undefined, reason: this.#refused ?? "the last was taken" }],
    };
  }

  stop(): Promise<void> {
    this.#stopping = true;
    const callOff = failFast(this.#redis, this.stopMs);
    return this.releases.release().finally(callOff);
  }

  get #name(): string {
    return `${this.#setup.role}-${this.id}`;
  }

  async #beat(): Promise<void> {
    const identity: Identity = {
      id: this.id,
      pid: process.pid,
      host: hostname(),
      version: VERSION,
      protocol: PROTOCOL_VERSIONS,
      http: this.#http,
      started: this.#started,
    };
    try {
      await this.#setup.presence.beat(this.redis, { ...identity, ...this.beatFacts() } as Beat);
      this.#refused = undefined;
    } catch (thrown) {
      const error = typedRefusal(thrown, "heartbeat");
      if (error instanceof DataflexError) this.#refused = error.message;
      throw error;
    }
  }
}
