import type { Redis } from "ioredis";
import { newestErrors } from "../history/read.js";
import { serverFacts } from "../redis/check-server.js";
import { redisNow } from "../redis/connect.js";
import { ALL_TAGS, queueName, sharedKeys, tagKeys } from "../redis/keys.js";
import { type BrokerBeat, brokerPresence, type WorkerBeat, workerPresence } from "../redis/presence.js";
import { VERSION } from "../version.js";
import { mostSevere } from "./facts.js";
import { type QueueFacts, readRun, readTrainers } from "./runs.js";
import type { BrokerView, Overview, QueueView, WorkerView } from "./types.js";

export interface QueueCounts {
  counts(also: readonly string[]): Promise<{ queue: string; counts: Record<string, number> }[]>;
}

const ERRORS = 20;

/** All that is true of the system now, from Redis alone: any process may ask. */
export async function readOverview(redis: Redis, counts: QueueCounts): Promise<Overview> {
  // Before anything else is read: what comes later is news to whoever goes on from here.
  const cursor = await lastTaken(redis);
  const [at, server, workers, brokers, leader, trainers, errors] = await Promise.all([
    redisNow(redis),
    serverFacts(redis),
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
  const queues = counted.map((q) => queueView(q, workers)).sort((a, b) => a.queue.localeCompare(b.queue));
  const facts: QueueFacts = {
    workers: (queue) => workers.filter((w) => w.queues.includes(queue)).length,
    active: (queue) => counted.find((q) => q.queue === queue)?.counts.active ?? 0,
  };
  const runs = await Promise.all(trainers.map((t) => readRun(redis, t, facts)));
  const now = {
    at,
    runs,
    queues,
    workers: workers.map(workerView),
    brokers: brokers.map((b) => brokerView(b, leader)),
    errors,
    redis: { version: server.version, used: server.usedBytes, max: server.maxBytes || 0 },
  };
  return { version: VERSION, cursor, banner: mostSevere({ ...now, policy: server.policy }), ...now };
}

async function lastTaken(redis: Redis): Promise<string> {
  const ids = await Promise.all(ALL_TAGS.map((tag) => redis.get(tagKeys(tag).noticesRead)));
  return ids.find((id) => id !== null) ?? "0-0";
}

function queueView(q: { queue: string; counts: Record<string, number> }, workers: readonly WorkerBeat[]): QueueView {
  const serving = workers.filter((w) => w.queues.includes(q.queue));
  return {
    queue: q.queue,
    stage: q.queue.split(".", 1)[0] ?? q.queue,
    counts: q.counts,
    workers: serving.length,
    slots: serving.reduce((n, w) => n + w.slots, 0),
  };
}

function workerView(w: WorkerBeat): WorkerView {
  const { id, host, pid, version, backend, slots, active, started } = w;
  const stages = [...new Set(w.queues.map((q) => q.split(".", 1)[0] ?? q))];
  return { id, host, pid, version, backend, slots, active, started, stages, http: w.http ?? null };
}

function brokerView({ id, host, pid, version, http }: BrokerBeat, leader: string | null): BrokerView {
  return { id, host, pid, version, http: http ?? null, leads: id === leader };
}
