import type { Redis } from "ioredis";
import type { PipelineSpec } from "../../protocol/pipeline-spec.js";
import { redisNow } from "../../redis/connect.js";
import type { Check } from "../../redis/finding.js";
import { readFitness } from "../../redis/fitness.js";
import { queueName } from "../../redis/keys.js";
import { type WorkerBeat, workerPresence } from "../../redis/presence.js";
import type { QueueState } from "../../redis/queue/queues.js";
import type { LabelsOf } from "./definitions.js";
import { NO_SCORER } from "./labels.js";
import type { LivingRun } from "./living-runs.js";
import type { Meter } from "./meter.js";
import { type StreamLength, type StreamState, streamLengths, streamStates } from "./stream-states.js";

export interface QueueCounts {
  counts(also: readonly string[]): Promise<QueueState[]>;
}

type SettingCheck = LabelsOf<"dataflex_redis_config_ok">["check"];
/** Label of the metric → check of Redis' fitness. */
const SETTINGS: Readonly<Record<SettingCheck, Check["name"]>> = {
  maxmemory_policy: "maxmemory-policy",
  version: "version",
  maxmemory: "maxmemory",
  aof: "appendonly",
  acl: "acl",
  tls: "tls",
};

/** The present state of Redis, which notices do not report. */
export interface Snapshot {
  /** Redis time, ms. */
  readonly now: number;
  readonly workers: readonly WorkerBeat[];
  readonly queues: readonly QueueState[];
  readonly streams: readonly StreamState[];
  readonly lengths: readonly StreamLength[];
  readonly living: readonly LivingRun[];
  readonly memory: { readonly used: number; readonly max: number };
  readonly settings: readonly { check: SettingCheck; ok: boolean }[];
}

/** `specs`: pipelines of live runs, whose queues are watched even when no worker serves them. */
export async function readSnapshot(
  redis: Redis,
  queues: QueueCounts,
  living: readonly LivingRun[],
  specs: readonly PipelineSpec[],
): Promise<Snapshot> {
  const [now, workers, fitness, streams, lengths] = await Promise.all([
    redisNow(redis),
    workerPresence.alive(redis),
    readFitness(redis),
    streamStates(redis),
    streamLengths(redis),
  ]);
  const mounted = specs.map((s) => queueName(s.stage, s.fingerprint));
  return {
    now,
    workers,
    streams,
    lengths,
    living,
    queues: await queues.counts([...workers.flatMap((w) => w.queues), ...mounted]),
    memory: fitness.memory,
    settings: Object.entries(SETTINGS).map(([check, name]) => ({
      check: check as SettingCheck,
      ok: fitness.checks.some((c) => c.name === name && (c.level === "ok" || c.level === "note")),
    })),
  };
}

/** Sets the gauges of a snapshot; what is not in it any more goes. */
export function setSnapshot(meter: Meter, snapshot: Snapshot): void {
  meter.clear(["dataflex_queue_jobs", "dataflex_queue_oldest_job_age_seconds", "dataflex_queue_paused"]);
  meter.clear(["dataflex_workers", "dataflex_worker_slots", "dataflex_scorer_mounted"]);
  for (const state of snapshot.queues) setQueue(meter, state, snapshot);
  for (const { stream, group, lag, pending, oldestPendingMs } of snapshot.streams) {
    meter.set("dataflex_stream_lag_entries", { stream, group }, lag);
    meter.set("dataflex_stream_pending_entries", { stream, group }, pending);
    meter.set("dataflex_stream_oldest_pending_seconds", { stream, group }, oldestPendingMs / 1000);
  }
  for (const { stream, entries } of snapshot.lengths) meter.set("dataflex_stream_entries", { stream }, entries);
  for (const spec of snapshot.living.flatMap((run) => run.handle.pipelines)) {
    const queue = queueName(spec.stage, spec.fingerprint);
    const labels = { scorer: spec.scorer?.name ?? NO_SCORER, stage: spec.stage, queue };
    meter.set("dataflex_scorer_mounted", labels, 1);
  }
  const inflight = snapshot.living.reduce((n, run) => n + run.inflightBytes, 0);
  meter.set("dataflex_inflight_bytes", {}, inflight);
  meter.set("dataflex_redis_memory_used_bytes", {}, snapshot.memory.used);
  meter.set("dataflex_redis_memory_max_bytes", {}, snapshot.memory.max);
  for (const { check, ok } of snapshot.settings) meter.set("dataflex_redis_config_ok", { check }, ok ? 1 : 0);
}

function setQueue(meter: Meter, { queue, counts, oldest, paused }: QueueState, { now, workers }: Snapshot): void {
  for (const [state, jobs] of Object.entries(counts)) meter.set("dataflex_queue_jobs", { queue, state }, jobs);
  const age = oldest === undefined ? 0 : Math.max(0, now - oldest);
  meter.set("dataflex_queue_oldest_job_age_seconds", { queue }, age / 1000);
  meter.set("dataflex_queue_paused", { queue }, paused ? 1 : 0);
  const serving = workers.filter((w) => w.queues.includes(queue));
  const slots = serving.reduce((n, w) => n + w.slots, 0);
  meter.set("dataflex_worker_slots", { queue }, slots);
  for (const backend of new Set(serving.map((w) => w.backend))) {
    meter.set("dataflex_workers", { queue, backend }, serving.filter((w) => w.backend === backend).length);
  }
}
