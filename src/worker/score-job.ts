import { chunksOf } from "../columns/chunks.js";
import { countRows } from "../columns/row-ranges.js";
import { defined } from "../defined.js";
import { DataflexError } from "../errors.js";
import { faultPoint } from "../fault-points.js";
import type { Handle, Producer, ResultHeader } from "../protocol/messages.js";
import type { PipelineSpec } from "../protocol/pipeline-spec.js";
import { stateOf } from "../protocol/pipeline-state.js";
import { packEntry } from "../protocol/saved-state.js";
import { parseStepKey } from "../redis/keys.js";
import type { ActiveJob } from "../redis/queue/job-consumer.js";
import { type Begun, begin } from "../redis/scripts/begin.js";
import { type SettleWord, settle } from "../redis/scripts/settle.js";
import type { ComputeHost } from "./compute/host.js";
import { countTokens } from "./count-tokens.js";
import { fetchParts } from "./fetch.js";
import { countDead } from "./holders.js";
import type { Ask, JobContext, JobExecution } from "./job-context.js";

/** A job during which this many workers have died is taken to be the cause. */
const POISON_AT = 2;

type OpenJob = Extract<Begun, { word: "OK" }>;

export interface JobToScore {
  readonly job: ActiveJob;
  readonly compute: Pick<ComputeHost, "run">;
  readonly context: JobContext;
  readonly handle: Handle;
  readonly spec: PipelineSpec;
  readonly producer: Producer;
  /** performance.now of the attempt's start. */
  readonly started: number;
  readonly ask: Ask;
}

export interface Scored {
  readonly word: SettleWord | Begun["word"];
  readonly facts: Partial<JobExecution>;
}

/** begin → fetch → compute → settle. `onBegun` hears what the step is made of. Errors: whatever goes wrong on the way, POISON and EXPIRED. */
export async function scoreJob(j: JobToScore, onBegun: (begun: OpenJob) => void): Promise<Scored> {
  const { context: c, handle, spec, ask } = j;
  const { data } = j.job;
  const begun = await ask("begin", () => begin(c.redis, data, spec, handle.limits, c.workerId));
  faultPoint("worker.begun");
  if (begun.word === "EXPIRED") {
    throw new DataflexError("EXPIRED", `the step's deadline passed before a worker took the job`, {
      deadline: data.deadline,
    });
  }
  // By any other word the job is moot: its step has moved on without it.
  if (begun.word !== "OK") return { word: begun.word, facts: {} };
  const begunAt = performance.now();
  onBegun(begun);
  await refusePoison(c, begun.holders);
  const puts = await ask("fetch", () => fetchParts(c.redis, data, spec, begun, handle.limits));
  const fetchMs = performance.now() - j.started;
  const readBytes = puts.reduce((n, p) => n + p.body.byteLength, 0);
  const memory = stateOf(spec);
  const state = memory?.reads
    ? await ask("reading a state", () => c.states.read(c.redis, data.run, memory.owner))
    : undefined;
  const readColumns = puts.flatMap((p) => p.columns);
  const { step, trigger } = parseStepKey(data.step);
  const leftMs = Math.max(1, begun.deadline - begun.now - (performance.now() - begunAt));
  const rows = countRows(begun.ranges);
  const request = { spec, run: data.run, step, trigger, rows, limits: handle.limits, puts, ...(state && { state }) };
  const { header, body, remember } = await j.compute
    .run(request, Math.min(c.computeLimitMs, leftMs), leftMs)
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
    attempt: data.attempt,
    ranges: begun.ranges,
    chunks: chunks.length,
    chunk_bytes: handle.limits.chunk_bytes,
    timings: { ...header.timings, fetch: fetchMs },
    producer: j.producer,
  };
  const publishing = performance.now();
  const added = memory &&
    remember && {
      entry: packEntry({ inc: data.incarnation, by: memory.by, values: remember.values }),
      keep: remember.keep,
    };
  const of = { content: data.content, puts: begun.puts.map((put) => put.header.hash) };
  const word = await ask("settle", () => settle(c.redis, data, result, chunks, handle.limits, { of, remember: added }));
  const publishMs = performance.now() - publishing;
  faultPoint("worker.settled");
  if (word === "CHUNKS_MISSING")
    throw new DataflexError("CHUNKS_MISSING", "the result's chunks did not stay in Redis", {});
  const tokens = countTokens(result, body, handle.limits);
  const waitMs = Math.max(0, begun.now - data.added);
  const sizes = { readBytes, readColumns, writtenBytes: body.byteLength };
  return { word, facts: { result, ...sizes, waitMs, publishMs, ...defined({ tokens }) } };
}

async function refusePoison(c: JobContext, holders: readonly string[]): Promise<void> {
  if (holders.length < POISON_AT) return;
  const deaths = await countDead(c.redis, holders, POISON_AT);
  if (deaths < POISON_AT) return;
  throw new DataflexError("POISON", `${deaths} workers died while they had this job; it is not tried again`, {
    deaths,
    workers: holders,
  });
}
