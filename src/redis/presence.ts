import type { Redis } from "ioredis";
import { redisNow } from "./connect.js";
import { CATALOGUE_TTL_MS, HEARTBEAT_TTL_MS, sharedKeys } from "./keys.js";

export interface WorkerBeat {
  readonly id: string;
  readonly pid: number;
  readonly host: string;
  readonly version: string;
  readonly protocol: readonly number[];
  readonly fingerprints: readonly string[];
  readonly queues: readonly string[];
  readonly backend: string;
  readonly device: "gpu" | "cpu";
  readonly slots: number;
  readonly active: number;
  /** It can be given jobs. */
  readonly ready: boolean;
  /** Of the tensors alive in its compute threads. */
  readonly tensor_bytes: number;
  readonly jobs_last_minute: number;
  /** Since its last job ended; null before the first. */
  readonly idle_ms: number | null;
  /** The longest that its main thread stood still since the heartbeat before. */
  readonly loop_lag_ms: number;
  readonly http: string | undefined;
  readonly started: number;
}
export interface BrokerBeat {
  readonly id: string;
  readonly pid: number;
  readonly host: string;
  readonly version: string;
  readonly protocol: readonly number[];
  readonly http: string | undefined;
  readonly started: number;
}

/** A heartbeat, and when it was made (Redis ms). */
export type Seen<T> = T & { readonly seen: number };

/** One heartbeat: the string says who, the index says until when, both on Redis' clock. */
async function beat(redis: Redis, index: string, key: string, id: string, body: string): Promise<void> {
  const now = await redisNow(redis);
  await Promise.all([
    redis.set(key, body, "PX", HEARTBEAT_TTL_MS),
    redis.zadd(index, now + HEARTBEAT_TTL_MS, id),
    redis.zremrangebyscore(index, "-inf", now - HEARTBEAT_TTL_MS),
  ]);
}
async function leave(redis: Redis, index: string, key: string, id: string): Promise<void> {
  await Promise.all([redis.del(key), redis.zrem(index, id)]);
}
async function alive<T>(redis: Redis, index: string, key: (id: string) => string): Promise<Seen<T>[]> {
  const found = (await redis.zrangebyscore(index, await redisNow(redis), "+inf", "WITHSCORES")) as string[];
  const expiries = new Map<string, number>();
  for (let i = 0; i + 1 < found.length; i += 2) expiries.set(found[i]!, Number(found[i + 1]));
  const beats = await Promise.all(
    [...expiries].map(async ([id, expiry]) => {
      const body = await redis.get(key(id));
      return body === null ? [] : [{ ...(JSON.parse(body) as T), seen: expiry - HEARTBEAT_TTL_MS }];
    }),
  );
  return beats.flat();
}

export const workerPresence = {
  beat: (redis: Redis, b: WorkerBeat) =>
    beat(redis, sharedKeys.workers, sharedKeys.worker(b.id), b.id, JSON.stringify(b)),
  leave: (redis: Redis, id: string) => leave(redis, sharedKeys.workers, sharedKeys.worker(id), id),
  alive: (redis: Redis) => alive<WorkerBeat>(redis, sharedKeys.workers, sharedKeys.worker),
};
export const brokerPresence = {
  beat: (redis: Redis, b: BrokerBeat) =>
    beat(redis, sharedKeys.brokers, sharedKeys.broker(b.id), b.id, JSON.stringify(b)),
  leave: (redis: Redis, id: string) => leave(redis, sharedKeys.brokers, sharedKeys.broker(id), id),
  alive: (redis: Redis) => alive<BrokerBeat>(redis, sharedKeys.brokers, sharedKeys.broker),
};

/** A worker publishes the entries of its catalogue, as data, so that brokers validate without the component's code. */
export async function publishCatalogue(redis: Redis, fingerprint: string, entries: unknown): Promise<void> {
  await redis.set(sharedKeys.catalogue(fingerprint), JSON.stringify(entries), "PX", CATALOGUE_TTL_MS);
}
export async function readCatalogue<T>(redis: Redis, fingerprint: string): Promise<T | undefined> {
  const body = await redis.get(sharedKeys.catalogue(fingerprint));
  return body === null ? undefined : (JSON.parse(body) as T);
}
