import type { Redis } from "ioredis";
import { bytesFromChunks, chunkSpan } from "../columns/chunks.js";
import { checkHeaders } from "../columns/column-header.js";
import { LAYOUT_COLUMNS, SESSION_COLUMNS } from "../columns/field-names.js";
import { ranksWithin } from "../columns/row-ranges.js";
import type { Handle, JobData } from "../protocol/messages.js";
import type { PipelineSpec } from "../protocol/pipeline-spec.js";
import { readChunks } from "../redis/chunk-stream.js";
import { type RunKeys, runKeys } from "../redis/keys.js";
import type { BegunPut } from "../redis/scripts/begin.js";
import type { PutPart } from "./compute/thread-messages.js";

/** Exactly the columns that the pipeline reads, from every put. Errors: CHUNKS_MISSING, DECODE. */
export async function fetchParts(
  redis: Redis,
  job: JobData,
  spec: PipelineSpec,
  { puts, ranges }: { readonly puts: readonly BegunPut[]; readonly ranges: readonly number[] },
  limits: Handle["limits"],
): Promise<PutPart[]> {
  const fields = spec.fields.map((field) => field.name);
  const wanted = new Set([...fields, ...LAYOUT_COLUMNS, ...(fields.includes("uid") ? SESSION_COLUMNS : [])]);
  const keys = runKeys(job.run);
  return Promise.all(puts.map((put) => fetchOne(redis, keys, job, put, ranges, wanted, limits)));
}

async function fetchOne(
  redis: Redis,
  keys: RunKeys,
  job: JobData,
  { header, inline }: BegunPut,
  ranges: readonly number[],
  wanted: ReadonlySet<string>,
  limits: Handle["limits"],
): Promise<PutPart> {
  checkHeaders(header.columns, header.bytes, limits);
  const columns = header.columns.filter((c) => wanted.has(c.name));
  const ends = columns.flatMap((c) =>
    Object.values(c.parts).map(([offset, length]) => [offset, offset + length] as const),
  );
  const base = ends.length > 0 ? Math.min(...ends.map(([start]) => start)) : 0;
  const stop = Math.max(base, ...ends.map(([, end]) => end));
  const [first, last] = chunkSpan(base, stop - base, header.chunk_bytes);
  const chunks = new Map<number, Uint8Array>();
  const key = keys.step(job.incarnation, job.step).put(header.stage, header.id, header.hash);
  // Streams of puts keep the TTL that they were written with; they must outlast this job and its retries.
  const renewed = redis.pexpire(key, limits.step_ttl_ms);
  if (inline.length > 0) for (const [i, chunk] of inline.entries()) chunks.set(i, chunk);
  else if (last >= first) {
    for (const [i, chunk] of (await readChunks(redis, key, first, last)).entries()) chunks.set(first + i, chunk);
  }
  // A buffer of its own: it is transferred to the compute thread, which must not share memory.
  const body = new Uint8Array(stop - base);
  for (let at = base; at < stop; ) {
    const index = Math.floor(at / header.chunk_bytes);
    const end = Math.min(stop, (index + 1) * header.chunk_bytes);
    body.set(bytesFromChunks(chunks, at, end - at, header.chunk_bytes), at - base);
    at = end;
  }
  await renewed;
  return { header, rows: ranksWithin(header.rows, ranges), columns, base, body };
}
