import type { Redis } from "ioredis";
import { blockingCall } from "./blocking.js";

/** One stream entry. Field values stay bytes. */
export interface Entry {
  readonly id: string;
  readonly fields: Readonly<Record<string, Buffer>>;
}

type RawEntry = [Buffer, Buffer[] | null];

/** ioredis returns `[id, [field, value, …]]`; an entry that was deleted while pending has no fields. */
export function parseEntries(raw: RawEntry[] | null | undefined): Entry[] {
  return (raw ?? []).map(([id, flat]) => {
    const fields: Record<string, Buffer> = Object.create(null);
    for (let i = 0; flat && i + 1 < flat.length; i += 2) fields[String(flat[i])] = flat[i + 1]!;
    return { id: String(id), fields };
  });
}

/** The group starts at 0, so that entries from before its first reader are read too. An existing group is no error. */
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

/** Entries delivered to this consumer and never acknowledged (an answer was lost, the process restarted). Read before new ones. */
export async function readPending(redis: Redis, r: GroupReader, count: number, after = "0"): Promise<Entry[]> {
  const answer = await redis.xreadgroupBuffer("GROUP", r.group, r.consumer, "COUNT", count, "STREAMS", r.stream, after);
  return parseEntries((answer as [Buffer, RawEntry[]][] | null)?.[0]?.[1]);
}

/** New entries, waiting up to `blockMs` for them, on a connection used for nothing else. */
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

/** Entries after an id, per stream, read by no group; waits up to `blockMs` for the first, on a connection used for nothing else. */
export async function readAfter(
  redis: Redis,
  after: ReadonlyMap<string, string>,
  count: number,
  blockMs: number,
  signal?: AbortSignal,
): Promise<[stream: string, entries: Entry[]][]> {
  const answer = await blockingCall(
    redis,
    blockMs,
    () => redis.xreadBuffer("COUNT", count, "BLOCK", blockMs, "STREAMS", ...after.keys(), ...after.values()),
    signal,
  );
  return ((answer ?? []) as [Buffer, RawEntry[]][]).map(([stream, raw]) => [String(stream), parseEntries(raw)]);
}

/** Entries from one id to another, both included unless written `(id`. */
export async function readRange(
  redis: Redis,
  stream: string,
  from: string,
  to: string,
  count: number,
): Promise<Entry[]> {
  return parseEntries((await redis.xrangeBuffer(stream, from, to, "COUNT", count)) as RawEntry[]);
}

/** How many entries there are after an id, counted up to `most`. */
export async function lengthAfter(redis: Redis, stream: string, after: string, most = 1_000): Promise<number> {
  // Entries are counted by reading them, so the usual cases are answered first.
  const [newest] = await redis.xrevrangeBuffer(stream, "+", "-", "COUNT", 1);
  if (!newest || String(newest[0]) === after) return 0;
  return (await redis.xrangeBuffer(stream, `(${after}`, "+", "COUNT", most)).length;
}

export interface GroupState {
  readonly lag: number;
  readonly pending: number;
  /** Milliseconds since the oldest pending entry was delivered; 0 when there is none. */
  readonly oldestPendingMs: number;
}

/**
 * What a group's readers still have to do: `lag` entries not yet delivered, `pending` ones delivered and not acknowledged. Redis
 * does not know the lag after some deletions, and never before version 7: then every entry that is not pending counts.
 */
export async function groupState(redis: Redis, stream: string, group: string): Promise<GroupState | undefined> {
  const [groups, length] = await Promise.all([groupsOf(redis, stream), redis.xlen(stream)]);
  const found = groups.map(toRecord).find((g) => String(g.name) === group);
  if (!found) return undefined;
  const pending = Number(found.pending);
  const lag = found.lag === null || found.lag === undefined ? length - pending : Number(found.lag);
  const oldestPendingMs = pending === 0 ? 0 : await oldestIdle(redis, stream, group);
  return { lag: Math.max(0, Math.min(lag, length)), pending, oldestPendingMs };
}

/** `[[id, consumer, idle ms, deliveries]]` of the first pending entry. */
async function oldestIdle(redis: Redis, stream: string, group: string): Promise<number> {
  const [first] = (await redis.xpending(stream, group, "-", "+", 1)) as [string, string, number, number][];
  return Number(first?.[2] ?? 0);
}

/** A stream that does not exist has no groups. */
async function groupsOf(redis: Redis, stream: string): Promise<unknown[]> {
  try {
    return (await redis.xinfo("GROUPS", stream)) as unknown[];
  } catch (error) {
    if (String(error).includes("no such key")) return [];
    throw error;
  }
}

/** Takes over what a consumer has left pending for `minIdleMs`. */
export async function claimStale(redis: Redis, r: GroupReader, minIdleMs: number, count: number): Promise<Entry[]> {
  // There is no named method for XAUTOCLAIM that returns buffers; its answer contains no map, so it has the same shape under both protocols.
  const answer = await redis.callBuffer("XAUTOCLAIM", r.stream, r.group, r.consumer, minIdleMs, "0", "COUNT", count);
  // Redis 6.2 answers null for an entry that was deleted while it was pending.
  return parseEntries((answer as [Buffer, (RawEntry | null)[], unknown])[1].filter((entry) => entry !== null));
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

/** Removes consumers of dead brokers that have nothing pending; deleting one earlier would lose its entries. */
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

/** A reader that stops removes itself from the group, unless it has pending entries, which others will claim. */
export async function leaveGroup(redis: Redis, r: GroupReader): Promise<void> {
  const pending = (await redis.xpending(r.stream, r.group, "-", "+", 1, r.consumer)) as unknown[];
  if (pending.length === 0) await redis.xgroup("DELCONSUMER", r.stream, r.group, r.consumer);
}

/** XINFO rows come as flat lists under RESP2 and as maps under RESP3. */
function toRecord(raw: unknown): Record<string, unknown> {
  if (raw instanceof Map) return Object.fromEntries(raw);
  if (!Array.isArray(raw)) return raw as Record<string, unknown>;
  const record: Record<string, unknown> = {};
  for (let i = 0; i + 1 < raw.length; i += 2) record[String(raw[i])] = raw[i + 1];
  return record;
}
