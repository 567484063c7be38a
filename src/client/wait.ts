import type { Redis } from "ioredis";
import { DataflexError } from "../errors.js";
import { sleep } from "../lifecycle.js";
import type { Handle, PipelineSpec } from "../protocol/messages.js";
import { blockingCall } from "../redis/blocking.js";
import { runKeys } from "../redis/keys.js";
import { settleFailure } from "../redis/settle.js";
import type { BlockingPool } from "./blocking-pool.js";
import { diagnose } from "./diagnose.js";
import { decodeOutcome, loadOutcome, type Outcome, type PipelineResult, readOutcomes } from "./outcomes.js";
import { StepResult } from "./step-result.js";

export interface WaitOptions {
  readonly redis: Redis;
  readonly pool: BlockingPool;
  readonly handle: Handle;
  readonly at: { readonly step: number; readonly trigger: number; readonly key: string };
  readonly expected: readonly PipelineSpec[];
  readonly timeoutMs: number;
  /** Puts the step again if Redis has forgotten it; false: nothing was kept. */
  readonly putAgain: () => Promise<boolean>;
  /** Throws when the run was closed or fenced meanwhile. */
  readonly alive: () => void;
}

/** One blocking read at a time is this long: after each, the step's state is looked at. */
const SLICE_MS = 1_000;
/** Errors that `on_unavailable: neutral` covers: the service was not there. A wrong input or a broken scorer is never covered. */
const UNAVAILABLE = new Set(["TIMEOUT", "EXPIRED", "POISON", "COMPUTE_LOST", "REDIS_UNREACHABLE"]);

/** Waits until every expected pipeline has settled, or the deadline. */
export async function waitForStep(o: WaitOptions): Promise<StepResult> {
  const started = performance.now();
  const at = (): { step: number; trigger: number; waitedMs: number } => ({
    step: o.at.step,
    trigger: o.at.trigger,
    waitedMs: performance.now() - started,
  });
  try {
    const outcomes = await collect(o);
    const results: PipelineResult[] = o.expected.map((p) => decodeOutcome(o.handle, outcomes.get(p.name)!));
    return new StepResult(o.handle, at(), results);
  } catch (error) {
    const known = DataflexError.from(error);
    if (o.handle.on_unavailable === "neutral" && UNAVAILABLE.has(known.code))
      return new StepResult(o.handle, at(), [], known);
    throw known;
  }
}

async function collect(o: WaitOptions): Promise<Map<string, Outcome>> {
  const keys = runKeys(o.handle.run).step(o.handle.incarnation, o.at.key);
  const outcomes = new Map<string, Outcome>();
  const end = Date.now() + o.timeoutMs;
  let lastId = "0";
  const missing = (): PipelineSpec[] => o.expected.filter((p) => !outcomes.has(p.name));
  const take = async (redis: Redis, blockMs: number): Promise<number> => {
    const entries = await readOutcomes(redis, keys.out, lastId, blockMs);
    for (const entry of entries) {
      const name = String(entry.fields.pipeline);
      if (o.expected.some((p) => p.name === name)) {
        const outcome = await loadOutcome(o.redis, keys, entry);
        // A replaced put voids every outcome of an earlier attempt.
        for (const [known, { header }] of outcomes) if (header.attempt < outcome.header.attempt) outcomes.delete(known);
        outcomes.set(name, outcome);
      }
      lastId = entry.id;
    }
    return entries.length;
  };

  await o.pool.use(async (blocking) => {
    while (missing().length > 0 && Date.now() < end) {
      o.alive();
      const slice = Math.max(1, Math.min(SLICE_MS, end - Date.now()));
      const got = await withDeadline(
        end,
        blockingCall(blocking, slice, () => take(blocking, slice)),
      ).catch(tryAgain(-1));
      if (got > 0) continue;
      if (got < 0) await sleep(Math.min(50, Math.max(0, end - Date.now())));
      // A server that has lost the step starts a stream of new ids: read it from its start.
      if (await withDeadline(end, restoreIfForgotten(o, keys.status)).catch(tryAgain(false))) lastId = "0";
    }
  });
  if (missing().length > 0) await giveUp(o, missing, () => take(o.redis, 0));
  return outcomes;
}

/** While the deadline allows it a lost connection is tried again; anything typed that cannot mend itself ends the wait. */
function tryAgain<T>(instead: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof DataflexError && !error.retryable) throw error;
    return instead;
  };
}

async function restoreIfForgotten(o: WaitOptions, status: string): Promise<boolean> {
  const [attempt, released] = await o.redis.hmget(status, "attempt", "released");
  if (released)
    throw new DataflexError("RELEASED", `step ${o.at.key} was released, its weights cannot be had any more`);
  return attempt === null || attempt === undefined ? o.putAgain() : false;
}

/** The deadline settles the step too, so that no worker goes on with it; an outcome that came first is still taken. */
async function giveUp(o: WaitOptions, missing: () => PipelineSpec[], take: () => Promise<number>): Promise<void> {
  const late = missing();
  const grace = Date.now() + 2_000;
  const why = await withDeadline(grace, settleTimeout(o, late, take)).catch(() => [
    `Redis has not answered for the last seconds (its address, its network, its load?)`,
  ]);
  const left = missing();
  if (left.length === 0) return;
  const names = left.map((p) => `"${p.name}"`).join(", ");
  throw new DataflexError(
    "TIMEOUT",
    `no weights from pipeline ${names} for step ${o.at.key} within ${o.timeoutMs} ms: ${why.join("; ")}`,
    {
      step: o.at.step,
      pipelines: left.map((p) => p.name),
      why,
    },
  );
}

async function settleTimeout(
  o: WaitOptions,
  late: readonly PipelineSpec[],
  take: () => Promise<number>,
): Promise<string[]> {
  const why = await diagnose(o.redis, o.handle, o.at.key, late);
  const status = runKeys(o.handle.run).step(o.handle.incarnation, o.at.key).status;
  const attempt = Number((await o.redis.hget(status, "attempt")) ?? 1);
  const ref = { run: o.handle.run, incarnation: o.handle.incarnation, step: o.at.key };
  for (const p of late) {
    const word = await settleFailure(
      o.redis,
      ref,
      {
        pipeline: p.name,
        stage: p.stage,
        attempt,
        code: "TIMEOUT",
        message: `the trainer stopped waiting after ${o.timeoutMs} ms`,
        details: {},
        producer: { worker: "client", pid: process.pid, job_id: "" },
      },
      o.handle.limits,
    );
    if (word === "SETTLED") await take();
  }
  return why;
}

/** Rejects at `end` whatever the promise does: a command queued while Redis is away must not outlive the caller's deadline. */
async function withDeadline<T>(end: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  promise.catch(() => {});
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DataflexError("TIMEOUT", "deadline")), Math.max(0, end - Date.now()));
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
