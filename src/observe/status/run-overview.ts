import type { Redis } from "ioredis";
import type { Handle } from "../../protocol/messages.js";
import { jobId, parseStepKey, queueName, type RunKeys, runKeys } from "../../redis/keys.js";
import { listRuns, openSteps } from "../../redis/list-runs.js";
import { readableHandle } from "../../redis/mounts.js";
import { parseState, pending, stateFields } from "../../redis/step-state.js";
import type { StepRecord } from "../history/history-record.js";
import { newestRecords } from "../history/read-history.js";
import type { Life } from "../verdict/live-rules.js";
import type { Verdicts } from "../verdict/verdicts.js";
import type { LastView, Phase, PipelineView, RunView } from "./overview-types.js";
import { paceOf } from "./pace.js";

/** Runs shown: those mounted last. */
const RUNS = 100;
const SPARK = 40;

export interface QueueFacts {
  /** Live workers that serve a queue. */
  workers(queue: string): number;
  /** Whether a worker has taken a job of a queue. */
  isTaken(queue: string, jobId: string): Promise<boolean>;
}
interface Trainer {
  readonly handle: Handle;
  readonly alive: boolean;
  readonly open: readonly string[];
}

/** Mounted runs, the one mounted last first. */
export async function readTrainers(redis: Redis): Promise<Trainer[]> {
  const read = await Promise.all((await listRuns(redis, RUNS)).map((keys) => readTrainer(redis, keys)));
  return read.filter((t) => t !== undefined);
}

async function readTrainer(redis: Redis, keys: RunKeys): Promise<Trainer | undefined> {
  const [handle, alive] = await Promise.all([readableHandle(redis, keys), redis.exists(keys.trainer)]);
  if (!handle) return undefined;
  return { handle, alive: alive === 1, open: await openSteps(redis, keys, handle.incarnation) };
}

export async function readRun(
  redis: Redis,
  trainer: Trainer,
  { queues, verdicts, now }: { readonly queues: QueueFacts; readonly verdicts: Verdicts; readonly now: number },
): Promise<RunView> {
  const { handle, open } = trainer;
  const keys = runKeys(handle.run);
  const perStep = handle.pipelines.length + 1;
  const [latest, records] = await Promise.all([
    newestRecords(redis, handle.run, SPARK * perStep),
    redis.xlen(keys.history),
  ]);
  const newest = latest.filter((record) => record.kind !== "mounted");
  const current = open.toSorted(byStep).at(-1);
  const progress = current === undefined ? undefined : await progressOf(redis, handle, current, queues);
  const pipelines = handle.pipelines.map(pipelineView);
  const life = lifeOf(trainer, queues, now);
  return {
    run: handle.run,
    incarnation: handle.incarnation,
    state: life.state,
    verdict: await verdicts.of(handle, life),
    pipelines,
    step: current === undefined ? (newest[0]?.step ?? null) : parseStepKey(current).step,
    phase: progress?.phase ?? (newest.length > 0 ? "applied" : null),
    settled: progress?.settled ?? null,
    open_steps: open.length,
    steps_per_minute: trainer.alive ? paceOf(newest, now) : null,
    last: lastOf(newest),
    spark: sparkOf(newest, pipelines),
    records,
    seen: newest[0]?.at ?? null,
  };
}

const byStep = (a: string, b: string): number => {
  const [one, other] = [parseStepKey(a), parseStepKey(b)];
  return one.step - other.step || one.trigger - other.trigger;
};

function pipelineView(p: Handle["pipelines"][number]): PipelineView {
  return {
    name: p.name,
    mechanism: p.mechanism,
    stage: p.stage,
    scorer: p.scorer?.name,
    actuator: p.actuator.name,
    delivered: !p.shadow,
    queue: queueName(p.stage, p.fingerprint),
    ...(p.domains && { domains: p.domains }),
  };
}

/** What is true of a run now, as its verdict needs it. */
export function lifeOf({ handle, alive, open }: Trainer, queues: Pick<QueueFacts, "workers">, now: number): Life {
  const orphan = handle.pipelines.find((p) => queues.workers(queueName(p.stage, p.fingerprint)) === 0);
  const state = alive ? (orphan ? "no_worker" : "live") : open.length > 0 ? "silent" : "ended";
  return {
    state,
    now,
    openSteps: open.length,
    orphan: orphan && {
      name: orphan.name,
      stage: orphan.stage,
      isBuiltin: orphan.fingerprint.startsWith("builtin"),
    },
  };
}

async function progressOf(
  redis: Redis,
  handle: Handle,
  step: string,
  queues: QueueFacts,
): Promise<{ phase: Phase; settled: [number, number] } | undefined> {
  const fields = stateFields(handle.pipelines);
  const { status } = runKeys(handle.run).step(handle.incarnation, step);
  const state = parseState(fields, await redis.hmget(status, ...fields));
  if (!state) return undefined;
  const done = handle.pipelines.filter((p) => state.settled.has(p.name)).length;
  const settled: [number, number] = [done, handle.pipelines.length];
  if (state.released) return { phase: "applied", settled };
  if (done === handle.pipelines.length) return { phase: "published", settled };
  const ready = pending(state, handle.pipelines);
  if (ready.length === 0) return { phase: "received", settled };
  const ids = {
    run: handle.run,
    incarnation: handle.incarnation,
    step,
    attempt: state.attempt,
    shard: [0, 1],
  } as const;
  const taken = await Promise.all(
    ready.map((p) =>
      queues.isTaken(
        queueName(p.stage, p.fingerprint),
        jobId({ ...ids, pipeline: p.name, content: state.contents.get(p.name)! }),
      ),
    ),
  );
  return { phase: taken.includes(true) ? "scoring" : "queued", settled };
}

function lastOf(newest: readonly StepRecord[]): Record<string, LastView> {
  const last: Record<string, LastView> = {};
  for (const record of newest) {
    if (record.kind !== "result" || Object.hasOwn(last, record.pipeline)) continue;
    const { stats, step } = record;
    last[record.pipeline] = {
      step,
      ess: stats?.ess_ratio ?? null,
      kept: stats?.kept_ratio ?? null,
      mean: stats?.mean ?? null,
    };
  }
  return last;
}

function sparkOf(newest: readonly StepRecord[], pipelines: readonly PipelineView[]): number[] {
  const of = (mechanism: string) => pipelines.find((p) => p.delivered && p.mechanism === mechanism);
  const shown = of("reweight") ?? of("select");
  const values = newest.flatMap((r) =>
    r.kind === "result" && r.pipeline === shown?.name && r.stats ? [r.stats.ess_ratio] : [],
  );
  return values.slice(0, SPARK).reverse();
}
