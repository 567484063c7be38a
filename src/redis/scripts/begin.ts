import type { Redis } from "ioredis";
import { fromBitmap } from "../../columns/row-ranges.js";
import { DataflexError } from "../../errors.js";
import { checkPutHeader } from "../../protocol/check-messages.js";
import { unpack } from "../../protocol/codec.js";
import type { Handle, JobData, PutHeader } from "../../protocol/messages.js";
import type { PipelineSpec } from "../../protocol/pipeline-spec.js";
import { runKeys } from "../keys.js";
import { type FencedWord, number, type Reply, runScript, text } from "./run-script.js";

/** What `begin` answers about a job's step. Times are in ms on Redis' clock. */
export type Begun =
  | {
      readonly word: "OK";
      /** Rows of the step's table that the stage covers, ascending: `[start, stop, …]`. */
      readonly ranges: readonly number[];
      readonly deadline: number;
      readonly now: number;
      readonly created: number;
      readonly puts: readonly BegunPut[];
      /** Workers that began this attempt and have not let go of it: each still scores it, or died of something. */
      readonly holders: readonly string[];
    }
  | { readonly word: FencedWord | "GONE" | "SETTLED" | "STALE" | "EXPIRED" };

export interface BegunPut {
  readonly header: PutHeader;
  /** All chunks if the body is small, else empty. */
  readonly inline: readonly Buffer[];
}

/** `worker` holds the job from now on, until it lets go or the step ends. */
export async function begin(
  redis: Redis,
  job: JobData,
  spec: PipelineSpec,
  limits: Handle["limits"],
  worker: string,
): Promise<Begun> {
  const keys = runKeys(job.run);
  const step = keys.step(job.incarnation, job.step);
  const fields = spec.fields.map((f) => f.name).join(",");
  const { word, rest } = await runScript(
    redis,
    "begin",
    [keys.mount, step.status, step.puts],
    [
      ...[job.incarnation, job.pipeline, job.attempt, job.content, job.stage, fields],
      ...[limits.inline_bytes, limits.step_ttl_ms, worker],
    ],
  );
  if (word !== "OK") return { word };
  const [rows, span, deadline, now, created, puts, holders] = rest;
  return {
    word,
    ranges: fromBitmap(span as Buffer, number(rows)),
    deadline: number(deadline),
    now: number(now),
    created: number(created),
    puts: (puts as Reply[][]).map(([id, hash, header, chunks, inline]) => ({
      header: ownHeader(header as Buffer, { id: text(id), hash: text(hash), stage: job.stage, chunks: number(chunks) }),
      inline: inline as Buffer[],
    })),
    holders: (holders as Reply[]).map(text),
  };
}

/** The worker gives the job back alive: what becomes of the worker later says nothing about the job. */
export async function letGo(redis: Redis, job: JobData, worker: string): Promise<void> {
  const { status } = runKeys(job.run).step(job.incarnation, job.step);
  await redis.hdel(status, `held:${job.pipeline}:${worker}`);
}

/** A put's header, which must belong to the put under whose name it is stored. Errors: DECODE. */
function ownHeader(bytes: Buffer, put: Pick<PutHeader, "id" | "hash" | "stage" | "chunks">): PutHeader {
  const header = checkPutHeader(unpack(bytes));
  for (const key of ["id", "hash", "stage", "chunks"] as const) {
    if (header[key] === put[key]) continue;
    const message = `malformed put header: ${key} is ${JSON.stringify(header[key])}, Redis has ${JSON.stringify(put[key])} for the put`;
    throw new DataflexError("DECODE", message, { message: "put header", key });
  }
  return header;
}
