import type { Redis } from "ioredis";
import { DataflexError, type ErrorCode } from "../errors.js";
import type { Handle } from "../protocol/messages.js";
import { typedWriteError, writeChunks } from "../redis/chunk-stream.js";
import { runKeys } from "../redis/keys.js";
import { type CommitOptions, type Committed, commitPut } from "../redis/scripts/commit-put.js";
import { restoreRun } from "../redis/scripts/mount-run.js";
import type { PreparedPut } from "./prepare.js";

/** Chunks may vanish between upload and commit (the server restarted): a put is sent at most this often. */
const TRIES = 3;

/**
 * Uploads a put's chunks and commits them. Both are idempotent: a lost answer or a forgotten mount leads to the same put again.
 * Errors: FENCED, RELEASED, PUT_CONFLICT, ROWS_CONFLICT, REDIS_FULL, CHUNKS_MISSING.
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
    if (written.status === "rejected") throw typedWriteError(written.reason);
    if (committed.status === "rejected") throw typedWriteError(committed.reason);
    const answer = committed.value;
    if (answer.word === "OK") return answer;
    const { word, facts } = answer;
    const retry =
      tries < TRIES && (word === "CHUNKS_MISSING" || (word === "NOT_MOUNTED" && (await restoreRun(redis, handle))));
    if (retry) continue;
    throw refused(handle, put, options.step, word, facts);
  }
}

function refused(handle: Handle, put: PreparedPut, step: string, word: string, rest: readonly string[]): DataflexError {
  const where = `step ${step}, stage ${put.header.stage}, fields ${put.fields.join(", ")}`;
  const details = { run: handle.run, step, stage: put.header.stage, fields: put.fields, reason: rest[0] };
  const sentence: Record<string, string> = {
    FENCED: `this trainer (incarnation ${handle.incarnation}) was replaced by a later one (${rest[0]}): it must stop`,
    NOT_MOUNTED: "the run is not mounted any more: mount it again",
    RELEASED: "the step was released already, so nothing can be put any more",
    PUT_CONFLICT: "this put was made before with other content. Pass replace: true if the new content is right",
    CHUNKS_MISSING: `the put's chunks did not stay in Redis (${rest[0]} of ${put.header.chunks} found): is it losing keys?`,
    ROWS_CONFLICT: rowsConflict(put, rest),
  };
  return new DataflexError(word as ErrorCode, `${where}: ${sentence[word] ?? word}`, details);
}

function rowsConflict(put: PreparedPut, [kind, detail]: readonly string[]): string {
  switch (kind) {
    case "total_rows":
      return `total_rows is ${put.header.total_rows}, but the first put of the step said ${detail}`;
    case "keys":
      return "the keys are not the ones that the step's first put fixed";
    case "no_keys":
      return "this put names keys, but the step's first put named none";
    case "stage_rows":
      return "the rows are not among those that the first put of this stage named";
    default:
      return `some of these rows of field "${detail}" were put before by a put of another range or other fields`;
  }
}
