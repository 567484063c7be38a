import type { Redis } from "ioredis";
import { redisNow } from "../../redis/connect.js";
import { readFitness } from "../../redis/fitness.js";
import { ALL_TAGS, HEARTBEAT_MS, queueName, sharedKeys, tagKeys } from "../../redis/keys.js";
import { brokerPresence, type Identity, type Seen, type WorkerBeat, workerPresence } from "../../redis/presence.js";
import type { QueueState } from "../../redis/queue/queues.js";
import { VERSION } from "../../version.js";
import { newestErrors } from "../history/read-history.js";
import { Verdicts } from "../verdict/verdicts.js";
import { mostSevere } from "./facts.js";
import type { BrokerView, Overview, QueueView, WorkerState, WorkerView } from "./overview-types.js";
import { type QueueFacts, readRun, readTrainers } from "./run-overview.js";

type Counted = Pick<QueueState, "queue" | "counts" | "oldest">;
export interface QueueCounts {
  counts(also: readonly string[]): Promise<Counted[]>;
  isTaken(queue: string, jobId: string): Promise<boolean>;
}

const ERRORS = 20;

/** The current state of the system, from Redis alone: any process may call it. */
export async function readOverview(
  redis: Redis,
  counts: QueueCounts,
  verdicts: Verdicts = new Verdicts(redis),
): Promise<Overview> {
  // Before anything else is read: later events are new to a reader that continues from here.
  const cursor = await lastTaken(redis);
  const [at, server, workers, brokers, leader, trainers, errors] = await Promise.all([
    redisNow(redis),
    readFitness(redis),
    workerPresence.alive(redis),
    brokerPresence.alive(redis),
    redis.get(sharedKeys.leader),
    readTrainers(redis),
    newestErrors(redis, ERRORS),
  ]);
  const mounted = trainers
    .filter((t) => t.alive || t.open.length > 0)
    .flatMap((t) => t.handle.pipelines.map((p) => queueName(p.stage, p.fingerprint)));
  const counted = await counts.counts([...workers.flatMap((w) => w.queues), ...mounted]);
  const queues = counted.map((q) => queueView(q, workers, at)).sort((a, b) => a.queue.localeCompare(b.queue));
  const facts: QueueFacts = {
    workers: (queue) => workers.filter((w) => w.queues.includes(queue)).length,
    isTaken: (queue, id) => counts.isTaken(queue, id),
  };
  const runs = await Promise.all(trainers.map((t) => readRun(redis, t, { queues: facts, verdicts, now: at })));
  verdicts.keep(new Set(trainers.map((t) => t.handle.run)));
  const now = {
    at,
    runs,
    queues,
    workers: workers.map((w) => workerView(w, at)),
    brokers: brokers.map((b) => brokerView(b, leader)),
    errors,
    redis: { version: server.version, used: server.memory.used, max: server.memory.max || 0 },
  };
  return { version: VERSION, cursor, banner: mostSevere({ ...now, checks: server.checks }), ...now };
}

async function lastTaken(redis: Redis): Promise<string> {
  const ids = await Promise.all(ALL_TAGS.map((tag) => redis.get(tagKeys(tag).noticesRead)));
  return ids.find((id) => id !== null) ?? "0-0";
}

function queueView(q: Counted, workers: readonly WorkerBeat[], now: number): QueueView {
  const serving = workers.filter((w) => w.queues.includes(q.queue));
  return {
    queue: q.queue,
    stage: q.queue.split(".", 1)[0] ?? q.queue,
    counts: q.counts,
    oldest_ms: q.oldest === undefined ? null : Math.max(0, now - q.oldest),
    workers: serving.length,
    slots: serving.reduce((n, w) => n + w.slots, 0),
  };
}

function workerView(w: Seen<WorkerBeat>, now: number): WorkerView {
  const { id, host, pid, version, backend, device, slots, active, jobs_last_minute, loop_lag_ms, tensor_bytes } = w;
  return {
    ...{ id, host, pid, version, state: workerState(w, now), backend, device, slots, active },
    ...{ jobs_last_minute, loop_lag_ms, tensor_bytes, started: w.started, http: w.http ?? null },
    python: w.python ?? null,
    last_job: w.idle_ms === null ? null : w.seen - w.idle_ms,
    stages: [...new Set(w.queues.map((q) => q.split(".", 1)[0] ?? q))],
  };
}

function workerState({ seen, ready, active }: Seen<WorkerBeat>, now: number): WorkerState {
  if (now - seen > 2 * HEARTBEAT_MS) return "late";
  if (ready === false) return "unready";
  return active > 0 ? "busy" : "idle";
}

function brokerView({ id, host, pid, version, http }: Identity, leader: string | null): BrokerView {
  return { id, host, pid, version, http: http ?? null, leads: id === leader };
}
