import type { Redis } from "ioredis";
import { DataflexError } from "../errors.js";
import type { Handle } from "../protocol/messages.js";
import { writeChunks } from "../redis/chunk-stream.js";
import { runKeys } from "../redis/keys.js";
import { type CommitAnswer, type CommitOptions, type Committed, commitPut } from "../redis/scripts/commit-put.js";
import { restoreRun } from "../redis/scripts/mount-run.js";
import { sentence } from "../sentences.js";
import type { PreparedPut } from "./prepare.js";

/** Chunks may vanish between upload and commit (the server restarted): a put is sent at most this often. */
const TRIES = 3;

/**
 * Uploads a put's chunks and commits them. Both are idempotent: a lost answer or a forgotten mount leads to the same put again.
 * Errors: FENCED, RELEASED, PUT_CONFLICT, ROWS_CONFLICT, CHUNKS_MISSING, and Redis' own.
 */
export async function sendPut(
  redis: Redis,
  handle: Handle,
  put: PreparedPut,
  options: CommitOptions,
): Promise<Committed> {
  const step = runKeys(handle.run).step(handle.incarnation, options.step);
  const key = step.put(put.header.stage, put.header.id, put.header.hash);
  for (let tries = 1; ; tries++) {
    // One connection keeps the order: the commit runs after the chunks without waiting for their answers.
    const writing = writeChunks(redis, key, put.chunks, handle.limits.step_ttl_ms);
    if (put.header.bytes > handle.limits.chunk_bytes) await writing;
    const [written, committed] = await Promise.allSettled([writing, commitPut(redis, handle, put, options)]);
    if (written.status === "rejected") throw written.reason;
    if (committed.status === "rejected") throw committed.reason;
    const answer = committed.value;
    if (answer.word === "OK") return answer;
    const { word } = answer;
    const retry =
      tries < TRIES && (word === "CHUNKS_MISSING" || (word === "NOT_MOUNTED" && (await restoreRun(redis, handle))));
    if (retry) continue;
    throw refused(handle, put, options.step, answer);
  }
}

type Refused = Exclude<CommitAnswer, Committed>;
type RowsConflict = "total_rows" | "keys" | "no_keys" | "stage_rows" | "overlap";

function refused(handle: Handle, put: PreparedPut, step: string, { word, facts }: Refused): DataflexError {
  const { run, incarnation } = handle;
  const { stage, chunks, total_rows = 0 } = put.header;
  const [reason = "", detail = ""] = facts;
  const key =
    word === "CHUNKS_MISSING"
      ? "CHUNKS_MISSING.put"
      : word === "ROWS_CONFLICT"
        ? (`${word}.${reason as RowsConflict}` as const)
        : word;
  const why = sentence(key, {
    run,
    incarnation,
    step,
    found: reason,
    chunks,
    total_rows,
    detail,
    replace: "replace: true",
  });
  const where = `step ${step}, stage ${stage}, fields ${put.fields.join(", ")}`;
  return new DataflexError(word, `${where}: ${why}`, { run, step, stage, fields: put.fields, reason });
}
