import type { Redis } from "ioredis";
import { blockingCall } from "./blocking.js";

/** One stream entry. Field values stay bytes. */
export interface Entry {
  readonly id: string;
  readonly fields: Readonly<Record<string, Buffer>>;
}

type RawEntry = [Buffer, Buffer[] | null];

/** ioredis answers `[id, [field, value, …]]`; an entry deleted while pending comes with no fields. */
export function parseEntries(raw: RawEntry[] | null | undefined): Entry[] {
  return (raw ?? []).map(([id, flat]) => {
    const fields: Record<string, Buffer> = Object.create(null);
    for (let i = 0; flat && i + 1 < flat.length; i += 2) fields[String(flat[i])] = flat[i + 1]!;
    return { id: String(id), fields };
  });
}

/** The group starts at 0: what was posted before the first reader came is read too. An existing group is no error. */
export async function ensureGroup(redis: Redis, stream: string, group: string): Promise<void> {
  try {
    await redis.xgroup("CREATE", stream, group, "0", "MKSTREAM");
  } catch (error) {
    if (!String(error).includes("BUSYGROUP")) throw error;
  }
}

export interface GroupReader {
  readonly stream: string;
  readonly group: string;
  readonly consumer: string;
}

/** Entries delivered to this consumer and never acknowledged: a lost answer, an earlier life. Read before new ones. */
export async function readPending(redis: Redis, r: GroupReader, count: number, after = "0"): Promise<Entry[]> {
  const answer = await redis.xreadgroupBuffer("GROUP", r.group, r.consumer, "COUNT", count, "STREAMS", r.stream, after);
  return parseEntries((answer as [Buffer, RawEntry[]][] | null)?.[0]?.[1]);
}

/** New entries, waiting up to `blockMs` for them, on a connection that does nothing else. */
export async function readNew(
  redis: Redis,
  r: GroupReader,
  count: number,
  blockMs: number,
  signal?: AbortSignal,
): Promise<Entry[]> {
  const answer = await blockingCall(
    redis,
    blockMs,
    () =>
      redis.xreadgroupBuffer("GROUP", r.group, r.consumer, "COUNT", count, "BLOCK", blockMs, "STREAMS", r.stream, ">"),
    signal,
  );
  return parseEntries((answer as [Buffer, RawEntry[]][] | null)?.[0]?.[1]);
}

/** Takes over what a consumer has left pending for `minIdleMs`. */
export async function claimStale(redis: Redis, r: GroupReader, minIdleMs: number, count: number): Promise<Entry[]> {
  // No named buffer method exists for XAUTOCLAIM; its answer holds no map, so it has one shape under both protocols.
  const answer = await redis.callBuffer("XAUTOCLAIM", r.stream, r.group, r.consumer, minIdleMs, "0", "COUNT", count);
  return parseEntries((answer as [Buffer, RawEntry[], unknown])[1]);
}

/** Acknowledges and deletes: acknowledging alone frees no memory. */
export async function done(redis: Redis, stream: string, group: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await redis
    .multi()
    .xack(stream, group, ...ids)
    .xdel(stream, ...ids)
    .exec();
}

/** Consumers of dead brokers go once nothing is pending with them; deleting one earlier would drop its entries for good. */
export async function removeIdleConsumers(redis: Redis, r: GroupReader, idleMs: number): Promise<void> {
  const consumers = (await redis.xinfo("CONSUMERS", r.stream, r.group)) as unknown[];
  for (const raw of consumers) {
    const c = toRecord(raw);
    const name = String(c.name);
    if (name !== r.consumer && Number(c.pending) === 0 && Number(c.idle) > idleMs) {
      await redis.xgroup("DELCONSUMER", r.stream, r.group, name);
    }
  }
}

/** XINFO rows come as flat lists under RESP2 and as maps under RESP3. */
function toRecord(raw: unknown): Record<string, unknown> {
  if (raw instanceof Map) return Object.fromEntries(raw);
  if (!Array.isArray(raw)) return raw as Record<string, unknown>;
  const record: Record<string, unknown> = {};
  for (let i = 0; i + 1 < raw.length; i += 2) record[String(raw[i])] = raw[i + 1];
  return record;
}
