import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Redis } from "ioredis";
import { every, fulfilsWithin, Pulse, ReleaseStack, sleep, type WatchedService } from "../lifecycle.js";
import { type Logger, silentLogger, throttledLog } from "../log.js";
import { PROTOCOL_VERSIONS } from "../protocol/messages.js";
import { connect, failFast, isRedisError } from "../redis/connect.js";
import { checkServer } from "../redis/fitness.js";
import { ALL_TAGS, BROKER_GROUP, HEARTBEAT_MS, sharedKeys, tagKeys } from "../redis/keys.js";
import { brokerPresence } from "../redis/presence.js";
import { Queues } from "../redis/queue/queues.js";
import { done, type Entry, leaveGroup } from "../redis/streams.js";
import { VERSION } from "../version.js";
import { groupLoop } from "./announcements.js";
import { deadLetter } from "./dead-letter.js";
import { Leadership } from "./leadership.js";
import { Mounting } from "./mounting.js";
import { allSinks, keepReadingNotices, type NoticeSink } from "./notices.js";
import { Steps } from "./steps.js";

export interface BrokerOptions {
  readonly redisUrl: string;
  readonly log?: Logger;
  /** Every so many ms all open steps are looked at. Default 3000. */
  readonly walkMs?: number;
}

/** How long an unanswered mount waits before it is tried again (it waits for a first worker). */
const MOUNT_RETRY_MS = 200;
/** A server that says nothing holds a stopping broker up for so long. */
const STOP_MS = 3_000;
const GOODBYE_MS = 1_000;

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
  #stopping = false;
  readonly #loops: { name: string; blocking: Redis; pulse: Pulse }[] = [];
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
    const onError = throttledLog((facts) => this.#log.warn(facts, "redis"));
    this.#redis = await connect(redisUrl, "command", { onError, name: `broker-${this.id}` });
    this.#releases.push(() => this.#redis.disconnect());
    await checkServer(this.#redis);
    this.queues = new Queues(this.#redis, onError);
    this.#releases.push(() => this.queues.close());
    this.#steps = new Steps(this.#redis, this.queues, this.id, this.#log);

    await this.#beat();
    // Unsaid, the heartbeat ends by itself.
    this.#releases.push(() => brokerPresence.leave(this.#redis, this.id).catch(onError));
    this.#releases.push(every(HEARTBEAT_MS, () => this.#beat(), onError));
    this.#releases.push(every(this.#options.walkMs ?? 3_000, () => this.#steps.walk(), onError));

    const mounting = new Mounting(this.#redis, this.#log);
    await this.#loop("control", sharedKeys.control, async (entries) => {
      const ids = await mounting.handle(entries);
      if (ids.length < entries.length)
        this.#retryMounts(
          mounting,
          entries.filter((e) => !ids.includes(e.id)),
        );
      return ids;
    });
    for (const tag of ALL_TAGS) {
      await this.#loop("announce", tagKeys(tag).announce, (entries) => this.#announced(tag, entries));
    }
  }

  /**
   * Stands for leader. While it leads, what settle and release report goes to the sinks, in their order, each report once over all brokers. Ends with the broker.
   */
  lead(...sinks: readonly NoticeSink[]): Leadership {
    const leadership = new Leadership(this.#redis, this.id, this.#log);
    leadership.start();
    const open = () => this.#openLoop("notices");
    const reading = keepReadingNotices(
      { redis: this.#redis, leadership, sink: allSinks(sinks), log: this.#log, open },
      this.#abort.signal,
    );
    this.#releases.push(async () => {
      this.#abort.abort(new Error("stopping"));
      // With Redis away both would wait for it; the lease then ends by itself.
      await fulfilsWithin(reading, GOODBYE_MS);
      await fulfilsWithin(leadership.stop(), GOODBYE_MS);
    });
    return leadership;
  }

  /** What one loop needs: a connection to wait on, and a pulse that says it turns. */
  async #openLoop(name: string): Promise<{ blocking: Redis; onTurn: () => void }> {
    const blocking = await connect(this.#options.redisUrl, "blocking", { name: `broker-${this.id}` });
    const pulse = new Pulse();
    this.#loops.push({ name, blocking, pulse });
    return { blocking, onTurn: () => pulse.beat() };
  }

  /** What health and readiness are judged by. */
  watched(): WatchedService {
    return {
      redis: this.#redis,
      blocking: this.#loops.map((l) => l.blocking),
      loops: this.#loops.map(({ name, pulse }) => ({ name, age: pulse.age })),
      stopping: this.#stopping,
    };
  }

  async #loop(name: string, stream: string, handle: (entries: Entry[]) => Promise<string[]>): Promise<void> {
    const { blocking, onTurn } = await this.#openLoop(name);
    const reader = { stream, group: BROKER_GROUP, consumer: this.id };
    const loop = groupLoop(
      { ...reader, redis: this.#redis, blocking, log: this.#log, handle, onTurn },
      this.#abort.signal,
    );
    this.#releases.push(async () => {
      this.#abort.abort(new Error("stopping"));
      await loop;
      blocking.disconnect();
      await leaveGroup(this.#redis, reader).catch(() => {});
    });
  }

  /** A mount without a live worker is tried again soon, not only when pending entries are next drained. */
  #retryMounts(mounting: Mounting, entries: Entry[]): void {
    // Entries come here again each time the pending ones are drained: one trial at a time is enough.
    const fresh = entries.filter((e) => !this.#retrying.has(e.id));
    for (const entry of fresh) this.#retrying.add(entry.id);
    const retry = async (): Promise<void> => {
      for (let left = fresh; left.length > 0; ) {
        await sleep(MOUNT_RETRY_MS, this.#abort.signal);
        const ids = await mounting.handle(left);
        await done(this.#redis, sharedKeys.control, BROKER_GROUP, ids);
        left = left.filter((e) => !ids.includes(e.id));
      }
    };
    retry()
      .catch((error) => {
        if (!this.#abort.signal.aborted)
          this.#log.warn({ err: String(error) }, "a mount is tried again with the pending entries");
      })
      .finally(() => {
        for (const entry of fresh) this.#retrying.delete(entry.id);
      });
  }
  readonly #retrying = new Set<string>();

  async #announced(tag: string, entries: Entry[]): Promise<string[]> {
    // Several puts of one step in one batch need one look at it.
    const steps = new Map<string, { run: string; inc: number; step: string; stage: string; from: Entry[] }>();
    for (const entry of entries) {
      const [run, inc, step, stage] = ["run", "inc", "step", "stage"].map((f) => entry.fields[f]?.toString());
      if (run === undefined || !/^\d+$/.test(inc ?? "") || !/^\d+\.\d+$/.test(step ?? "") || !stage)
        await deadLetter(this.#redis, entry, this.#log, tag);
      else {
        const name = [run, inc, step, stage].join("\n");
        const known = steps.get(name);
        if (known) known.from.push(entry);
        else steps.set(name, { run, inc: Number(inc), step: step!, stage, from: [entry] });
      }
    }
    const open = new Set<Entry>();
    await Promise.all(
      [...steps.values()].map(async ({ run, inc, step, stage, from }) => {
        try {
          await this.#steps.enqueue(run, inc, step, stage);
        } catch (error) {
          // One step that trips this code over must not hold up the others; while Redis is at fault, all are tried again.
          if (isRedisError(error)) for (const entry of from) open.add(entry);
          else for (const entry of from) await deadLetter(this.#redis, entry, this.#log, tag);
          this.#log.warn({ run, step, stage, err: String(error) }, "an announcement could not be handled");
        }
      }),
    );
    return entries.filter((e) => !open.has(e)).map((e) => e.id);
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
    this.#stopping = true;
    const callOff = failFast(this.#redis, STOP_MS);
    return this.#releases.release().finally(callOff);
  }
}
