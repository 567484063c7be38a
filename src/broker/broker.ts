import type { Redis } from "ioredis";
import { every, fulfilsWithin, Pulse, sleep } from "../lifecycle.js";
import type { Logger } from "../log.js";
import { isRedisError } from "../redis/connect.js";
import { ALL_TAGS, BROKER_GROUP, sharedKeys, tagKeys } from "../redis/keys.js";
import { brokerPresence, type Identity } from "../redis/presence.js";
import { Queues } from "../redis/queue/queues.js";
import { Service } from "../redis/service.js";
import { done, type Entry, leaveGroup } from "../redis/streams.js";
import { groupLoop } from "./announcements.js";
import { deadLetter } from "./dead-letter.js";
import { EarlierProtocol } from "./earlier-protocol.js";
import { Leadership } from "./leadership.js";
import { Mounting } from "./mounting.js";
import { allSinks, keepReadingNotices, type NoticeSink } from "./notices.js";
import { QueueSweep } from "./queue-sweep.js";
import { Steps } from "./steps.js";

export interface BrokerOptions {
  readonly redisUrl: string;
  readonly log?: Logger;
  /** Interval in ms at which all open steps are checked. Default 3000. */
  readonly walkMs?: number;
}

/** How often mounts are retried while there is no worker, just to let them expire; a first worker is noticed sooner. */
const MOUNT_RETRY_MS = 200;
const MOUNT_IDLE_MS = 5_000;
/** Queues without workers are looked at this many walks apart. */
const SWEEP_WALKS = 10;
/** How long a silent server may delay a stopping broker. */
const STOP_MS = 3_000;
const GOODBYE_MS = 1_000;

/**
 * Reads announcements and mount requests, keeps no state that Redis does not have, never reads tensor bytes. Any number may
 * run: they share the work as members of one group, and a job added twice is one job.
 */
export class Broker extends Service<Identity> {
  readonly #walkMs: number;
  readonly #abort = new AbortController();
  /** Mounts that wait for a first worker. */
  readonly #waiting = new Map<string, Entry>();
  #steps!: Steps;
  queues!: Queues;

  constructor({ redisUrl, log, walkMs = 3_000 }: BrokerOptions) {
    super({ redisUrl, log, role: "broker", presence: brokerPresence });
    this.#walkMs = walkMs;
  }

  protected async open(): Promise<void> {
    const redis = await this.openRedis();
    this.queues = new Queues(redis, this.onError);
    this.releases.push(() => this.queues.close());
    this.#steps = new Steps(redis, this.queues, this.id, this.log);
    await this.startHeartbeat();
    this.releases.push(every(this.#walkMs, () => this.#steps.walk(), this.onError));
    const queueSweep = new QueueSweep(redis, this.queues, this.#steps, this.log);
    this.releases.push(every(SWEEP_WALKS * this.#walkMs, () => queueSweep.sweep(), this.onError));
    const earlier = new EarlierProtocol(redis, this.log);
    this.releases.push(every(this.#walkMs, () => earlier.refuse(), this.onError));

    const mounting = new Mounting(redis, this.log);
    await this.#loop("control", sharedKeys.control, async (pending) => {
      // Entries come here again each time the pending ones are drained: those that are being retried are taken care of.
      const entries = pending.filter((e) => !this.#waiting.has(e.id));
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
   * Competes for the lead. While it leads, the notices of mount, settle and release go to the sinks, in order, each once over all brokers. Ends with the broker.
   */
  lead(...sinks: readonly NoticeSink[]): Leadership {
    const leadership = new Leadership(this.redis, this.id, this.log);
    leadership.start();
    const open = () => this.#openLoop("notices");
    const reading = keepReadingNotices(
      { redis: this.redis, leadership, sink: allSinks(sinks), log: this.log, open },
      this.#abort.signal,
    );
    this.releases.push(async () => {
      this.#abort.abort(new Error("stopping"));
      // With Redis away both would wait for it; the lease then simply expires.
      await fulfilsWithin(reading, GOODBYE_MS);
      await fulfilsWithin(leadership.stop(), GOODBYE_MS);
    });
    return leadership;
  }

  async #openLoop(name: string): Promise<{ blocking: Redis; onTurn: () => void }> {
    const blocking = await this.openBlocking();
    const pulse = new Pulse();
    this.loops.push({ name, blocking, pulse });
    return { blocking, onTurn: () => pulse.beat() };
  }

  async #loop(name: string, stream: string, handle: (entries: Entry[]) => Promise<string[]>): Promise<void> {
    const { blocking, onTurn } = await this.#openLoop(name);
    const reader = { stream, group: BROKER_GROUP, consumer: this.id };
    const loop = groupLoop(
      { ...reader, redis: this.redis, blocking, log: this.log, handle, onTurn },
      this.#abort.signal,
    );
    this.releases.push(async () => {
      this.#abort.abort(new Error("stopping"));
      await loop;
      blocking.disconnect();
      await leaveGroup(this.redis, reader).catch(() => {});
    });
  }

  /** Mounts without a live worker are tried again soon, all together, not only when pending entries are next drained. */
  #retryMounts(mounting: Mounting, fresh: Entry[]): void {
    const idle = this.#waiting.size === 0;
    for (const entry of fresh) this.#waiting.set(entry.id, entry);
    if (!idle) return;
    this.#retry(mounting).catch((error) => {
      this.#waiting.clear();
      if (!this.#abort.signal.aborted)
        this.log.warn({ err: String(error) }, "mounts are tried again with the pending entries");
    });
  }

  async #retry(mounting: Mounting): Promise<void> {
    let tried = performance.now();
    while (this.#waiting.size > 0) {
      await sleep(MOUNT_RETRY_MS, this.#abort.signal);
      if (performance.now() - tried < MOUNT_IDLE_MS && !(await mounting.hasWorker())) continue;
      tried = performance.now();
      const ids = await mounting.handle([...this.#waiting.values()]);
      await done(this.redis, sharedKeys.control, BROKER_GROUP, ids);
      for (const id of ids) this.#waiting.delete(id);
    }
  }

  async #announced(tag: string, entries: Entry[]): Promise<string[]> {
    // Several puts of one step in one batch need only one look at the step.
    const steps = new Map<string, { run: string; inc: number; step: string; stage: string; from: Entry[] }>();
    for (const entry of entries) {
      const [run, inc, step, stage] = ["run", "inc", "step", "stage"].map((f) => entry.fields[f]?.toString());
      if (run === undefined || !/^\d+$/.test(inc ?? "") || !/^\d+\.\d+$/.test(step ?? "") || !stage)
        await deadLetter(this.redis, entry, this.log, tag);
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
          // One step that makes this code fail must not hold up the others; while Redis is at fault, all are retried.
          if (isRedisError(error)) for (const entry of from) open.add(entry);
          else for (const entry of from) await deadLetter(this.redis, entry, this.log, tag);
          this.log.warn({ run, step, stage, err: String(error) }, "an announcement could not be handled");
        }
      }),
    );
    return entries.filter((e) => !open.has(e)).map((e) => e.id);
  }

  protected get stopMs(): number {
    return STOP_MS;
  }

  protected beatFacts(): object {
    return {};
  }
}
