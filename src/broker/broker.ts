import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Redis } from "ioredis";
import { every, ReleaseStack, sleep } from "../lifecycle.js";
import { type Logger, silentLogger } from "../log.js";
import { PROTOCOL_VERSIONS } from "../protocol/messages.js";
import { Queues } from "../queue/queues.js";
import { checkServer } from "../redis/check-server.js";
import { connect } from "../redis/connect.js";
import { ALL_TAGS, BROKER_GROUP, HEARTBEAT_MS, sharedKeys, tagKeys } from "../redis/keys.js";
import { brokerPresence } from "../redis/presence.js";
import type { Entry } from "../redis/streams.js";
import { VERSION } from "../version.js";
import { groupLoop } from "./announcements.js";
import { Mounting } from "./mounting.js";
import { Steps } from "./steps.js";

export interface BrokerOptions {
  readonly redisUrl: string;
  readonly log?: Logger;
  /** Every so many ms all open steps are looked at. Default 3000. */
  readonly walkMs?: number;
}

/** How long an unanswered mount waits before it is tried again (it waits for a first worker). */
const MOUNT_RETRY_MS = 200;
const DEAD_LETTERS = 1_000;

/**
 * Reads announcements and mount requests, keeps no state that Redis does not have, never reads tensor bytes. Any number may
 * run: they share the work as members of one group, and a job added twice is one job.
 */
export class Broker {
  readonly id = randomUUID();
  readonly #options: BrokerOptions;
  readonly #log: Logger;
  readonly #releases = new ReleaseStack();
  readonly #abort = new AbortController();
  #redis!: Redis;
  #steps!: Steps;
  queues!: Queues;

  constructor(options: BrokerOptions) {
    this.#options = options;
    this.#log = options.log ?? silentLogger;
  }

  get redis(): Redis {
    return this.#redis;
  }

  /** Connects, checks the server, starts the loops. Errors: REDIS_UNREACHABLE, REDIS_CONFIG; nothing stays open then. */
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
    const { redisUrl } = this.#options;
    const onError = (error: unknown): void => this.#log.warn({ err: String(error) }, "redis");
    this.#redis = await connect(redisUrl, "command", { onError, name: `broker-${this.id}` });
    this.#releases.push(() => this.#redis.disconnect());
    await checkServer(this.#redis);
    this.queues = new Queues(this.#redis, onError);
    this.#releases.push(() => this.queues.close());
    this.#steps = new Steps(this.#redis, this.queues, this.id, this.#log);

    await this.#beat();
    this.#releases.push(() => brokerPresence.leave(this.#redis, this.id));
    this.#releases.push(every(HEARTBEAT_MS, () => this.#beat(), onError));
    this.#releases.push(every(this.#options.walkMs ?? 3_000, () => this.#steps.walk(), onError));

    const mounting = new Mounting(this.#redis, this.#log);
    await this.#loop(sharedKeys.control, async (entries) => {
      const ids = await mounting.handle(entries);
      if (ids.length < entries.length)
        this.#retryMounts(
          mounting,
          entries.filter((e) => !ids.includes(e.id)),
        );
      return ids;
    });
    for (const tag of ALL_TAGS) await this.#loop(tagKeys(tag).announce, (entries) => this.#announced(tag, entries));
  }

  async #loop(stream: string, handle: (entries: Entry[]) => Promise<string[]>): Promise<void> {
    const blocking = await connect(this.#options.redisUrl, "blocking", { name: `broker-${this.id}` });
    const loop = groupLoop(
      { stream, group: BROKER_GROUP, consumer: this.id, redis: this.#redis, blocking, log: this.#log, handle },
      this.#abort.signal,
    );
    this.#releases.push(async () => {
      this.#abort.abort(new Error("stopping"));
      await loop;
      blocking.disconnect();
    });
  }

  /** A mount without a live worker is tried again soon, not only when pending entries are next drained. */
  #retryMounts(mounting: Mounting, entries: Entry[]): void {
    const retry = async (): Promise<void> => {
      await sleep(MOUNT_RETRY_MS, this.#abort.signal);
      const ids = await mounting.handle(entries);
      for (const id of ids)
        await this.#redis.multi().xack(sharedKeys.control, BROKER_GROUP, id).xdel(sharedKeys.control, id).exec();
      const left = entries.filter((e) => !ids.includes(e.id));
      if (left.length > 0) this.#retryMounts(mounting, left);
    };
    retry().catch((error) => {
      if (!this.#abort.signal.aborted)
        this.#log.warn({ err: String(error) }, "a mount is tried again with the pending entries");
    });
  }

  async #announced(tag: string, entries: Entry[]): Promise<string[]> {
    // Several puts of one step in one batch need one look at it.
    const steps = new Map<string, { run: string; inc: number; step: string; stage: string }>();
    for (const entry of entries) {
      const [run, inc, step, stage] = ["run", "inc", "step", "stage"].map((f) => entry.fields[f]?.toString());
      if (run === undefined || !/^\d+$/.test(inc ?? "") || !/^\d+\.\d+$/.test(step ?? "") || !stage)
        await this.#deadLetter(tag, entry);
      else steps.set([run, inc, step, stage].join("\n"), { run, inc: Number(inc), step: step!, stage });
    }
    await Promise.all([...steps.values()].map((s) => this.#steps.enqueue(s.run, s.inc, s.step, s.stage)));
    return entries.map((e) => e.id);
  }

  async #deadLetter(tag: string, entry: Entry): Promise<void> {
    this.#log.warn({ entry: entry.id }, "an announcement could not be read; it lies in the dead stream");
    const flat = Object.entries(entry.fields).flat();
    await this.#redis.xadd(tagKeys(tag).dead, "MAXLEN", "~", DEAD_LETTERS, "*", "entry", entry.id, ...flat);
  }

  async #beat(): Promise<void> {
    await brokerPresence.beat(this.#redis, {
      id: this.id,
      pid: process.pid,
      host: hostname(),
      version: VERSION,
      protocol: PROTOCOL_VERSIONS,
      http: this.#http,
      started: this.#started,
    });
  }
  readonly #started = Date.now();

  #http: string | undefined;
  /** Where this process serves HTTP: told to everybody with the next heartbeat, which is now. */
  announceHttp(address: string): Promise<void> {
    this.#http = address;
    return this.#beat();
  }

  stop(): Promise<void> {
    return this.#releases.release();
  }
}
