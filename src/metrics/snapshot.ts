import type { Redis } from "ioredis";
import type { Handle, PipelineSpec } from "../protocol/messages.js";
import { isNewEnough, keepsEverything, serverFacts } from "../redis/check-server.js";
import { ALL_TAGS, BROKER_GROUP, parseStepKey, queueName, runKeys, sharedKeys, tagKeys } from "../redis/keys.js";
import { readHandle } from "../redis/mounts.js";
import { type WorkerBeat, workerPresence } from "../redis/presence.js";
import { groupState, lengthAfter } from "../redis/streams.js";
import type { LabelsOf } from "./definitions.js";
import type { Meter } from "./meter.js";

export interface QueueCounts {
  counts(also: readonly string[]): Promise<{ queue: string; counts: Record<string, number> }[]>;
}

/** What is true of Redis right now, beside what notices tell. */
export interface Snapshot {
  readonly workers: readonly WorkerBeat[];
  readonly queues: readonly { queue: string; counts: Readonly<Record<string, number>> }[];
  readonly streams: readonly { stream: string; group: string; lag: number; pending: number }[];
  readonly memory: { readonly used: number; readonly max: number };
  readonly settings: readonly { check: LabelsOf<"dataflex_redis_config_ok">["check"]; ok: boolean }[];
}

/** `specs`: pipelines of live runs, whose queues are watched even when no worker serves them. */
export async function readSnapshot(
  redis: Redis,
  queues: QueueCounts,
  specs: readonly PipelineSpec[],
): Promise<Snapshot> {
  const [workers, facts, streams] = await Promise.all([
    workerPresence.alive(redis),
    serverFacts(redis),
    streamStates(redis),
  ]);
  const mounted = specs.map((s) => queueName(s.stage, s.fingerprint));
  return {
    workers,
    streams,
    queues: await queues.counts([...workers.flatMap((w) => w.queues), ...mounted]),
    memory: { used: facts.usedBytes, max: facts.maxBytes },
    settings: [
      { check: "maxmemory_policy", ok: keepsEverything(facts) },
      { check: "version", ok: isNewEnough(facts) },
    ],
  };
}

async function streamStates(redis: Redis): Promise<Snapshot["streams"]> {
  const states = [
    { stream: "control", group: BROKER_GROUP, ...(await groupState(redis, sharedKeys.control, BROKER_GROUP)) },
  ];
  const announce = await Promise.all(ALL_TAGS.map((tag) => groupState(redis, tagKeys(tag).announce, BROKER_GROUP)));
  const add = (of: "lag" | "pending"): number => announce.reduce((n, state) => n + (state?.[of] ?? 0), 0);
  states.push({ stream: "announce", group: BROKER_GROUP, lag: add("lag"), pending: add("pending") });
  let unread = 0;
  for (const tag of ALL_TAGS) {
    const { notices, noticesRead } = tagKeys(tag);
    unread += await lengthAfter(redis, notices, (await redis.get(noticesRead)) ?? "0");
  }
  states.push({ stream: "notices", group: "leader", lag: unread, pending: 0 });
  return states.map((s) => ({ lag: 0, pending: 0, ...s }));
}

/** Sets the gauges of a snapshot; what is not in it any more goes. */
export function setSnapshot(meter: Meter, { workers, queues, streams, memory, settings }: Snapshot): void {
  meter.clear(["dataflex_queue_jobs", "dataflex_workers", "dataflex_worker_slots"]);
  for (const { queue, counts } of queues) {
    for (const [state, jobs] of Object.entries(counts)) meter.set("dataflex_queue_jobs", { queue, state }, jobs);
    const serving = workers.filter((w) => w.queues.includes(queue));
    meter.set(
      "dataflex_worker_slots",
      { queue },
      serving.reduce((n, w) => n + w.slots, 0),
    );
    for (const backend of new Set(serving.map((w) => w.backend))) {
      meter.set("dataflex_workers", { queue, backend }, serving.filter((w) => w.backend === backend).length);
    }
  }
  for (const { stream, group, lag, pending } of streams) {
    meter.set("dataflex_stream_lag_entries", { stream, group }, lag);
    meter.set("dataflex_stream_pending_entries", { stream, group }, pending);
  }
  meter.set("dataflex_redis_memory_used_bytes", {}, memory.used);
  meter.set("dataflex_redis_memory_max_bytes", {}, memory.max);
  for (const { check, ok } of settings) meter.set("dataflex_redis_config_ok", { check }, ok ? 1 : 0);
}

/** Runs looked at: of those mounted last, the ones whose trainer lives. */
const RUNS = 128;

/** Runs with a living trainer, each with the newest step that it has open. */
export async function livingRuns(redis: Redis): Promise<{ handle: Handle; openStep: number | undefined }[]> {
  const found = await Promise.all(ALL_TAGS.map((tag) => livingOf(redis, tag)));
  return found.flat();
}

async function livingOf(redis: Redis, tag: string): Promise<{ handle: Handle; openStep: number | undefined }[]> {
  const { runs, base } = tagKeys(tag);
  const encoded = await redis.zrange(runs, "0", String(RUNS - 1), "REV");
  if (encoded.length === 0) return [];
  const trainers = await redis.mget(encoded.map((run) => `${base}:${run}:trainer`));
  const living = encoded.filter((_, i) => trainers[i] !== null);
  const met = await Promise.all(
    living.map(async (run) => {
      const handle = await readHandle(redis, { mount: `${base}:${run}:mount` });
      return handle && { handle, openStep: await openStep(redis, handle) };
    }),
  );
  return met.filter((m) => m !== undefined);
}

/** The open step with the latest deadline. */
async function openStep(redis: Redis, handle: Handle): Promise<number | undefined> {
  const [member] = await redis.zrange(runKeys(handle.run).steps, "-1", "-1");
  if (member === undefined) return undefined;
  const [incarnation, step] = member.split(":", 2);
  return Number(incarnation) === handle.incarnation && step ? parseStepKey(step).step : undefined;
}
