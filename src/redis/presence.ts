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
  readonly slots: number;
  readonly active: number;
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
async function alive<T>(redis: Redis, index: string, key: (id: string) => string): Promise<T[]> {
  const ids = await redis.zrangebyscore(index, await redisNow(redis), "+inf");
  const beats = await Promise.all(ids.map((id) => redis.get(key(id))));
  return beats.filter((b): b is string => b !== null).map((b) => JSON.parse(b) as T);
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
