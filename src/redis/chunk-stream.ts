import type { Redis } from "ioredis";
import { errorOf } from "../sentences.js";

/**
 * A body as chunk entries `0-1 … 0-n` of a stream of its own, field `b`. Plain XADD with explicit ids, pipelined: a chunk that
 * is resent is answered "ID equal or smaller", which means that it is already stored. The first chunk's XADD and the key's
 * TTL are one transaction, and no later chunk creates the stream (a server may have lost the first): no chunk is ever in Redis
 * without a TTL. The scripts that accept a stream check that it is complete.
 */
const ALREADY_STORED = "equal or smaller";
/** Bytes in flight before further chunks wait for an answer: bounds the buffers on both sides for bodies of gigabytes. */
const WINDOW_BYTES = 16 << 20;

export async function writeChunks(
  redis: Redis,
  key: string,
  chunks: readonly Uint8Array[],
  ttlMs: number,
): Promise<void> {
  let inFlight: Promise<void>[] = [];
  let windowBytes = 0;
  for (const [i, chunk] of chunks.entries()) {
    const body = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    inFlight.push(
      i === 0
        ? writeFirst(redis, key, body, ttlMs)
        : redis.xadd(key, "NOMKSTREAM", `0-${i + 1}`, "b", body).then(() => {}, ignoreStored),
    );
    windowBytes += chunk.byteLength;
    if (windowBytes >= WINDOW_BYTES) {
      await allOf(inFlight);
      inFlight = [];
      windowBytes = 0;
    }
  }
  await allOf(inFlight);
}

/** Chunks `first … last` (counted from 0) of a stream, in order. Errors: CHUNKS_MISSING. */
export async function readChunks(redis: Redis, key: string, first: number, last: number): Promise<Buffer[]> {
  const entries = await redis.xrangeBuffer(key, `0-${first + 1}`, `0-${last + 1}`);
  if (entries.length !== last - first + 1) {
    throw errorOf("CHUNKS_MISSING.read", { key, wanted: last - first + 1, found: entries.length });
  }
  return entries.map(([, fields]) => fields[1] as Buffer);
}

async function allOf(promises: Promise<void>[]): Promise<void> {
  // All writes end before the first error is thrown: nothing continues behind the caller's back.
  const results = await Promise.allSettled(promises);
  const failed = results.find((r) => r.status === "rejected");
  if (failed) throw failed.reason;
}

/** Plain commands are resent automatically after a lost connection, but a transaction is aborted: this resends it. */
async function writeFirst(redis: Redis, key: string, body: Buffer, ttlMs: number): Promise<void> {
  for (;;) {
    try {
      return checkTransaction(await redis.multi().xadd(key, "0-1", "b", body).pexpire(key, ttlMs).exec());
    } catch (error) {
      if ((error as Error).name !== "AbortError" || redis.status === "end") throw error;
    }
  }
}

function checkTransaction(results: [Error | null, unknown][] | null): void {
  for (const [error] of results ?? []) if (error) ignoreStored(error);
}
function ignoreStored(error: unknown): void {
  if (!String(error).includes(ALREADY_STORED)) throw error;
}
