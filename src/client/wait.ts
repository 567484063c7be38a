import type { Redis } from "ioredis";
import { DataflexError } from "../errors.js";
import { sleep } from "../lifecycle.js";
import type { Handle } from "../protocol/messages.js";
import type { PipelineSpec } from "../protocol/pipeline-spec.js";
import { blockingCall } from "../redis/blocking.js";
import { parseStepKey, runKeys } from "../redis/keys.js";
import { typedRefusal } from "../redis/refusals.js";
import { settleFailure } from "../redis/scripts/settle.js";
import type { Entry } from "../redis/streams.js";
import { errorOf, sentence } from "../sentences.js";
import type { BlockingPool } from "./blocking-pool.js";
import { before } from "./deadline.js";
import { diagnose } from "./diagnose.js";
import { decodeOutcome, loadOutcome, type Outcome, type PipelineResult, putHashes, readOutcomes } from "./outcomes.js";

export interface WaitOptions {
  readonly redis: Redis;
  readonly pool: BlockingPool;
  readonly handle: Handle;
  /** The step's key. */
  readonly stepKey: string;
  readonly expected: readonly PipelineSpec[];
  readonly timeoutMs: number;
  /** Puts again what Redis has forgotten of the step; resolves to whether anything was missing. */
  readonly restore: () => Promise<boolean>;
  /** Whether an outcome belongs to what this producer has put; `hashes`: those of the puts from which it was computed, if any. */
  readonly accepts: (pipeline: PipelineSpec, attempt: number, hashes: ReadonlySet<string> | undefined) => boolean;
  /** Throws when the run was closed or fenced meanwhile. */
  readonly alive: () => void;
}

/** How long one blocking read lasts; the step's state is checked after each. */
const SLICE_MS = 1_000;
/** Pause after a lost connection. */
const RETRY_MS = 50;

/**
 * Waits until every expected pipeline has settled, one has failed, or the deadline. Errors: that failure; TIMEOUT with a diagnosis;
 * FENCED, RELEASED, REDIS_UNREACHABLE, REDIS_DENIED, DECODE.
 */
export async function waitForStep(o: WaitOptions): Promise<PipelineResult[]> {
  const outcomes = await collect(o);
  for (const outcome of outcomes.values()) if (outcome.header.kind === "failure") decodeOutcome(o.handle, outcome);
  return o.expected.map((p) => decodeOutcome(o.handle, outcomes.get(p.name)!));
}

async function collect(o: WaitOptions): Promise<Map<string, Outcome>> {
  const keys = runKeys(o.handle.run).step(o.handle.incarnation, o.stepKey);
  const outcomes = new Map<string, Outcome>();
  const end = performance.now() + o.timeoutMs;
  let lastId = "0";
  let over = false;
  const missing = (): PipelineSpec[] => o.expected.filter((p) => !outcomes.has(p.name));
  // One failure decides the step: there is no need to wait for the others.
  const undecided = (): boolean =>
    missing().length > 0 && [...outcomes.values()].every(({ header }) => header.kind !== "failure");
  const keep = async (entry: Entry, late = false): Promise<void> => {
    // A read that outlives the deadline must not mistake the TIMEOUT that this wait settles for an outcome.
    if (over && !late) return;
    const name = String(entry.fields.pipeline);
    const pipeline = o.expected.find((p) => p.name === name);
    if (pipeline && o.accepts(pipeline, Number(String(entry.fields.attempt)), putHashes(entry))) {
      const outcome = await loadOutcome(o.redis, keys, entry);
      // A replaced put voids every outcome of an earlier attempt.
      for (const [known, { header }] of outcomes) if (header.attempt < outcome.header.attempt) outcomes.delete(known);
      outcomes.set(name, outcome);
    }
    lastId = entry.id;
  };
  const wait = async (blocking: Redis): Promise<void> => {
    while (undecided() && performance.now() < end) {
      o.alive();
      const slice = Math.max(1, Math.min(SLICE_MS, end - performance.now()));
      const entries = await blockingCall(blocking, slice, () => readOutcomes(blocking, keys.out, lastId, slice));
      for (const entry of entries) await keep(entry);
      // After a server has lost the step, its stream starts with new ids: read it from the start.
      if (entries.length === 0 && (await restoreIfForgotten(o))) lastId = "0";
    }
  };

  while (undecided() && performance.now() < end) {
    o.alive();
    try {
      await before(end, o.pool.use(wait));
    } catch (error) {
      // A lost connection or a refusal is retried until the deadline; an error that a retry cannot fix ends the wait.
      laterOrNever(error);
      await sleep(Math.min(RETRY_MS, Math.max(0, end - performance.now())));
      if (await before(end, restoreIfForgotten(o)).catch(laterOrNever)) lastId = "0";
    }
  }
  over = true;
  const last = async (): Promise<void> => {
    for (const entry of await readOutcomes(o.redis, keys.out, lastId, 0)) await keep(entry, true);
  };
  if (undecided()) await giveUp(o, missing, last);
  return outcomes;
}

function laterOrNever(thrown: unknown): false {
  const error = typedRefusal(thrown, "wait");
  if (error instanceof DataflexError && !error.retryable) throw error;
  return false;
}

/** What kept the deadline from being settled. */
function unsettled(thrown: unknown): string[] {
  const error = typedRefusal(thrown, "diagnosis");
  const refused = error instanceof DataflexError && error.code.startsWith("REDIS_");
  return [refused ? error.message : sentence("TIMEOUT.silent", {})];
}

/** Puts the step again if the server has lost it. Errors: FENCED, RELEASED, and those of a put. */
async function restoreIfForgotten(o: WaitOptions): Promise<boolean> {
  const keys = runKeys(o.handle.run);
  const [owner, released] = await Promise.all([
    o.redis.hget(keys.mount, "inc"),
    o.redis.hget(keys.step(o.handle.incarnation, o.stepKey).status, "released"),
  ]);
  if (owner && Number(owner) > o.handle.incarnation) {
    const { run, incarnation } = o.handle;
    throw errorOf("FENCED", { run, incarnation });
  }
  if (released) throw errorOf("RELEASED", { step: o.stepKey });
  return o.restore();
}

/** At the deadline the step is settled as well, so that no worker continues with it; an outcome that came first still counts. */
async function giveUp(o: WaitOptions, missing: () => PipelineSpec[], last: () => Promise<void>): Promise<void> {
  const late = missing();
  const grace = performance.now() + 2_000;
  const why = await before(grace, settleTimeout(o, late, last)).catch(unsettled);
  const left = missing();
  if (left.length === 0) return;
  const names = left.map((p) => `"${p.name}"`).join(", ");
  const facts = { names, step: o.stepKey, time: `${o.timeoutMs} ms`, why: why.join("; ") };
  throw errorOf("TIMEOUT", facts, { step: parseStepKey(o.stepKey).step, pipelines: left.map((p) => p.name), why });
}

async function settleTimeout(
  o: WaitOptions,
  late: readonly PipelineSpec[],
  last: () => Promise<void>,
): Promise<string[]> {
  const why = await diagnose(o.redis, o.handle, o.stepKey, late);
  const status = runKeys(o.handle.run).step(o.handle.incarnation, o.stepKey).status;
  const attempt = Number((await o.redis.hget(status, "attempt")) ?? 1);
  const ref = { run: o.handle.run, incarnation: o.handle.incarnation, step: o.stepKey };
  for (const p of late) {
    const word = await settleFailure(
      o.redis,
      ref,
      {
        pipeline: p.name,
        stage: p.stage,
        attempt,
        code: "TIMEOUT",
        message: sentence("TIMEOUT.settled", { time: `${o.timeoutMs} ms`, why: why.join("; ") }),
        details: {},
        producer: { worker: "client", pid: process.pid, job_id: "" },
      },
      o.handle.limits,
    );
    if (word === "SETTLED") await last();
  }
  return why;
}
