import type { Redis } from "ioredis";
import { redisNow } from "./connect.js";
import { CATALOGUE_TTL_MS, HEARTBEAT_TTL_MS, sharedKeys } from "./keys.js";
import { refusalWord } from "./refusals.js";
import { writeWhenFull } from "./scripts/write-when-full.js";

/** Who a service is. */
export interface Identity {
  readonly id: string;
  readonly pid: number;
  readonly host: string;
  readonly version: string;
  readonly protocol: readonly number[];
  /** Where it serves HTTP, once it does. */
  readonly http: string | undefined;
  /** Unix time in ms. */
  readonly started: number;
}
/** The Python process of one slot. */
interface PythonSlotBeat {
  /** As torch names it: `cpu`, `cuda:0`. */
  readonly device: string;
  /** The GPU's name by its driver; empty on the CPU. */
  readonly model: string;
  /** The one GPU that the process was shown, by index or `GPU-…`; null where none was. */
  readonly gpu: string | null;
  /** Why it is the CPU although a GPU was there; empty otherwise. */
  readonly reason: string;
  readonly up: boolean;
  readonly restarts: number;
  /** Of the process now, and of its GPU after its last call. */
  readonly rss_bytes: number;
  readonly gpu_bytes: number;
}
export interface PythonBeat {
  readonly python: string;
  /** Null: no file has imported it. */
  readonly torch: string | null;
  /** `scorer mine`, … */
  readonly components: readonly string[];
  readonly slots: readonly PythonSlotBeat[];
}
export interface WorkerBeat extends Identity {
  readonly fingerprints: readonly string[];
  readonly queues: readonly string[];
  readonly backend: string;
  readonly device: "gpu" | "cpu";
  readonly slots: number;
  readonly active: number;
  /** Whether it can be given jobs. */
  readonly ready: boolean;
  /** Why not, where its own parts are the reason; absent when they are sound. */
  readonly unready?: string;
  /** Of the tensors alive in its compute threads. */
  readonly tensor_bytes: number;
  /** How it runs components in Python; absent where it has none. */
  readonly python?: PythonBeat;
  readonly jobs_last_minute: number;
  /** Since its last job ended; null before the first. */
  readonly idle_ms: number | null;
  /** The longest stall of its main thread since the previous heartbeat. */
  readonly loop_lag_ms: number;
}

/** A heartbeat, and when it was made (Redis ms). */
export type Seen<T> = T & { readonly seen: number };

/** The heartbeats of one kind of service: a string for each says who it is, an index until when it counts as alive, on Redis' clock. */
export class Presence<Beat extends Identity> {
  readonly #index: string;
  readonly #key: (id: string) => string;

  constructor(index: string, key: (id: string) => string) {
    this.#index = index;
    this.#key = key;
  }

  /** Errors: those of Redis; the heartbeat of a full one is made all the same. */
  async beat(redis: Redis, beat: Beat): Promise<void> {
    const now = await redisNow(redis);
    const key = this.#key(beat.id);
    const body = JSON.stringify(beat);
    const expiry = now + HEARTBEAT_TTL_MS;
    try {
      await Promise.all([
        redis.set(key, body, "PX", HEARTBEAT_TTL_MS),
        redis.zadd(this.#index, expiry, beat.id),
        redis.zremrangebyscore(this.#index, "-inf", now - HEARTBEAT_TTL_MS),
      ]);
    } catch (error) {
      if (refusalWord(error) === "OOM") {
        await writeWhenFull(redis, "SET", key, body, "PX", HEARTBEAT_TTL_MS);
        await writeWhenFull(redis, "ZADD", this.#index, expiry, beat.id);
      }
      throw error;
    }
  }

  async leave(redis: Redis, id: string): Promise<void> {
    await Promise.all([redis.del(this.#key(id)), redis.zrem(this.#index, id)]);
  }

  /** Until when each of these is taken to live (Redis ms); undefined for one whose heartbeat is gone. */
  async expiries(redis: Redis, ids: readonly string[]): Promise<Map<string, number | undefined>> {
    if (ids.length === 0) return new Map();
    const [now, scores] = await Promise.all([redisNow(redis), redis.zmscore(this.#index, ...ids)]);
    const live = (score: string | number | null): number | undefined =>
      score !== null && Number(score) > now ? Number(score) : undefined;
    return new Map(ids.map((id, i) => [id, live(scores[i] ?? null)]));
  }

  async alive(redis: Redis): Promise<Seen<Beat>[]> {
    const found = (await redis.zrangebyscore(this.#index, await redisNow(redis), "+inf", "WITHSCORES")) as string[];
    const expiries = new Map<string, number>();
    for (let i = 0; i + 1 < found.length; i += 2) expiries.set(found[i]!, Number(found[i + 1]));
    const beats = await Promise.all(
      [...expiries].map(async ([id, expiry]) => {
        const body = await redis.get(this.#key(id));
        return body === null ? [] : [{ ...(JSON.parse(body) as Beat), seen: expiry - HEARTBEAT_TTL_MS }];
      }),
    );
    return beats.flat();
  }
}

export const workerPresence = new Presence<WorkerBeat>(sharedKeys.workers, sharedKeys.worker);
export const brokerPresence = new Presence<Identity>(sharedKeys.brokers, sharedKeys.broker);

/** A worker publishes the entries of its catalogue, as data, so that brokers validate without the component's code. */
export async function publishCatalogue(redis: Redis, fingerprint: string, entries: unknown): Promise<void> {
  await redis.set(sharedKeys.catalogue(fingerprint), JSON.stringify(entries), "PX", CATALOGUE_TTL_MS);
}
export async function readCatalogue<T>(redis: Redis, fingerprint: string): Promise<T | undefined> {
  const body = await redis.get(sharedKeys.catalogue(fingerprint));
  return body === null ? undefined : (JSON.parse(body) as T);
}
