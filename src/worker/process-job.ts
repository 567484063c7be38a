import type { Redis } from "ioredis";
import { chunksOf } from "../columns/chunks.js";
import { countRows } from "../columns/row-ranges.js";
import type { ColumnHeader } from "../columns/tensor.js";
import { defined } from "../defined.js";
import { DataflexError } from "../errors.js";
import { faultPoint } from "../fault-points.js";
import type { Logger } from "../log.js";
import type { Handle, JobData, Producer, Receipt, ResultHeader } from "../protocol/messages.js";
import type { JobOutcome } from "../protocol/outcome-words.js";
import type { PipelineSpec } from "../protocol/pipeline-spec.js";
import { stateOf } from "../protocol/pipeline-state.js";
import { packEntry } from "../protocol/saved-state.js";
import { parseStepKey } from "../redis/keys.js";
import type { Handles } from "../redis/mounts.js";
import type { ActiveJob } from "../redis/queue/job-consumer.js";
import { begin } from "../redis/scripts/begin.js";
import { readState } from "../redis/scripts/restore-state.js";
import { settle, settleFailure } from "../redis/scripts/settle.js";
import { VERSION } from "../version.js";
import type { ComputeHost } from "./compute/host.js";
import { countTokens } from "./count-tokens.js";
import { fetchParts } from "./fetch.js";

export interface JobContext {
  readonly redis: Redis;
  readonly handles: Handles;
  readonly workerId: string;
  readonly log: Logger;
  /** Longest time that one job may compute. */
  readonly computeLimitMs: number;
  /** Called after every execution of a job, for metrics. */
  readonly onExecution: (execution: JobExecution) => void;
}

/** Facts about one execution of a job; a job that is retried is executed several times. Durations in ms. */
export interface JobExecution {
  readonly job: JobData;
  readonly spec: PipelineSpec | undefined;
  readonly outcome: JobOutcome;
  readonly reason?: string;
  readonly result?: ResultHeader;
  readonly waitMs: number;
  readonly totalMs: number;
  readonly readBytes: number;
  readonly writtenBytes: number;
  /** Columns that were fetched, of every put; the written ones are in `result`. */
  readonly readColumns: readonly ColumnHeader[];
  /** Tokens of the mask that was read; absent without one. */
  readonly tokens?: number;
  /** How long settling took. */
  readonly publishMs?: number;
  /** Rows whose field or score was not finite. */
  readonly nonfinite?: number;
}

/** A job that has lost its worker this often is taken to be the cause. */
const POISON_AT = 2;

/**
 * One execution of a job: begin → fetch → compute → settle. It ends with a receipt, or throws to be retried. An error that
 * a retry cannot fix, or one in the last execution, is settled as a typed failure: no job ever ends as failed.
 */
export async function processJob(job: ActiveJob, compute: Pick<ComputeHost, "run">, c: JobContext): Promise<Receipt> {
  const started = performance.now();
  const handle = await c.handles.get(job.data.run, job.data.incarnation);
  const spec = handle?.pipelines.find((p) => p.name === job.data.pipeline);
  const report = (outcome: JobOutcome, more: Partial<JobExecution> = {}): void =>
    c.onExecution({
      job: job.data,
      spec,
      outcome,
      waitMs: 0,
      totalMs: performance.now() - started,
      readBytes: 0,
      writtenBytes: 0,
      readColumns: [],
      ...more,
    });
  if (!handle || !spec) {
    report("superseded", { reason: "NOT_MOUNTED" });
    return { outcome: "superseded", reason: "NOT_MOUNTED", worker: c.workerId };
  }
  const producer: Producer = { worker: c.workerId, pid: process.pid, job_id: job.id, version: VERSION };
  const of: { readonly content: string; puts: readonly string[] } = { content: job.data.content, puts: [] };
  try {
    if (job.stalled >= POISON_AT) {
      throw new DataflexError(
        "POISON",
        `the job was lost ${job.stalled} times by the workers that took it; it is not tried again`,
        { stalled: job.stalled },
      );
    }
    const done = await scoreAndSettle(job, compute, c, handle, spec, producer, started, of);
    const outcome = done.word === "OK" ? "completed" : "superseded";
    report(outcome, { reason: done.word, ...done.facts });
    return { outcome, reason: done.word, worker: c.workerId };
  } catch (thrown) {
    const error = DataflexError.from(thrown);
    const { code, message, details } = error;
    const again = error.retryable && !job.last;
    const stack = error.cause instanceof Error ? error.cause.stack : undefined;
    c.log.warn(
      { run: job.data.run, step: job.data.step, pipeline: spec.name, code, err: message, ...(stack && { stack }) },
      again ? "tried again" : "settled as a failure",
    );
    if (again) {
      report("retried", { reason: code });
      throw error;
    }
    const failure = {
      pipeline: spec.name,
      stage: spec.stage,
      attempt: job.data.attempt,
      code,
      message,
      details,
      producer,
    };
    const word = await settleFailure(c.redis, job.data, failure, handle.limits, code === "EXPIRED" ? undefined : of);
    const rows = Number(details.count);
    report("failed", { reason: code, ...(code === "NON_FINITE" && { nonfinite: rows > 0 ? rows : 1 }) });
    return { outcome: "failed", reason: word === "OK" ? code : word, worker: c.workerId };
  }
}

async function scoreAndSettle(
  job: ActiveJob,
  compute: Pick<ComputeHost, "run">,
  c: JobContext,
  handle: Handle,
  spec: PipelineSpec,
  producer: Producer,
  started: number,
  of: { readonly content: string; puts: readonly string[] },
) {
  const begun = await begin(c.redis, job.data, spec, handle.limits);
  faultPoint("worker.begun");
  if (begun.word === "EXPIRED") {
    throw new DataflexError("EXPIRED", `the step's deadline passed before a worker took the job`, {
      deadline: job.data.deadline,
    });
  }
  // Any other word makes the job moot: its step has moved on without it.
  if (begun.word !== "OK") return { word: begun.word, facts: {} };
  of.puts = begun.puts.map((put) => put.header.hash);
  const puts = await fetchParts(c.redis, job.data, spec, begun, handle.limits);
  const fetchMs = performance.now() - started;
  const readBytes = puts.reduce((n, p) => n + p.body.byteLength, 0);
  const memory = stateOf(spec);
  const state = memory?.reads ? await readState(c.redis, job.data.run, memory.owner) : undefined;
  const readColumns = puts.flatMap((p) => p.columns);
  const { step, trigger } = parseStepKey(job.data.step);
  const leftMs = Math.max(1, begun.deadline - begun.now);
  const request = {
    spec,
    run: job.data.run,
    step,
    trigger,
    rows: countRows(begun.ranges),
    limits: handle.limits,
    puts,
  };
  const limitMs = Math.min(c.computeLimitMs, leftMs);
  const { header, body, remember } = await compute
    .run({ ...request, ...(state && { state }) }, limitMs, leftMs)
    .catch((error) => {
      // Stopped by the step's deadline rather than by the limit of a job.
      const late = leftMs < c.computeLimitMs && error instanceof DataflexError && error.code === "COMPUTE_TIMEOUT";
      throw late ? new DataflexError("EXPIRED", "the step's deadline passed while it was scored") : error;
    });
  faultPoint("worker.computed");
  const chunks = chunksOf([body], body.byteLength, handle.limits.chunk_bytes);
  const result: ResultHeader = {
    v: handle.v,
    ...header,
    attempt: job.data.attempt,
    ranges: begun.ranges,
    chunks: chunks.length,
    chunk_bytes: handle.limits.chunk_bytes,
    timings: { ...header.timings, fetch: fetchMs },
    producer,
  };
  const publishing = performance.now();
  const added = memory &&
    remember && {
      entry: packEntry({ inc: job.data.incarnation, by: memory.by, values: remember.values }),
      keep: remember.keep,
    };
  const word = await settle(c.redis, job.data, result, chunks, handle.limits, { of, remember: added });
  const publishMs = performance.now() - publishing;
  faultPoint("worker.settled");
  if (word === "CHUNKS_MISSING")
    throw new DataflexError("CHUNKS_MISSING", "the result's chunks did not stay in Redis", {});
  const tokens = countTokens(result, body, handle.limits);
  const waitMs = Math.max(0, begun.now - job.data.added);
  const sizes = { readBytes, readColumns, writtenBytes: body.byteLength };
  return { word, facts: { result, ...sizes, waitMs, publishMs, ...defined({ tokens }) } };
}
