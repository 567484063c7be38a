import type { Redis } from "ioredis";
import type { Handle } from "../../protocol/messages.js";
import { redisNow } from "../../redis/connect.js";
import { HEARTBEAT_TTL_MS, parseStepKey } from "../../redis/keys.js";
import { listRuns, openSteps } from "../../redis/list-runs.js";
import { readableHandle } from "../../redis/mounts.js";

/** Runs looked at: the most recently mounted; of these, the ones with a living trainer. */
const RUNS = 128;
/** Open steps of a run whose payload is added up; a trainer has a few. */
const STEPS = 64;

export interface LivingRun {
  readonly handle: Handle;
  /** The open step with the latest deadline. */
  readonly openStep: number | undefined;
  /** Unix time in seconds of the trainer's last heartbeat, on Redis' clock. */
  readonly lastSeen: number;
  /** Payload bytes of the puts of its open steps. */
  readonly inflightBytes: number;
}

/** Runs with a living trainer. */
export async function livingRuns(redis: Redis): Promise<LivingRun[]> {
  const [runs, now] = await Promise.all([listRuns(redis, RUNS), redisNow(redis)]);
  const met = await Promise.all(
    runs.map(async (keys) => {
      const left = await redis.pttl(keys.trainer);
      const handle = left > 0 ? await readableHandle(redis, keys) : undefined;
      if (!handle) return undefined;
      const lastSeen = (now - (HEARTBEAT_TTL_MS - left)) / 1000;
      const steps = await openSteps(redis, keys, handle.incarnation, STEPS);
      const sizes = await Promise.all(
        steps.map((step) => payloadOf(redis, keys.step(handle.incarnation, step).status)),
      );
      const openStep = steps[0] === undefined ? undefined : parseStepKey(steps[0]).step;
      return { handle, openStep, lastSeen, inflightBytes: sizes.reduce((n, size) => n + size, 0) };
    }),
  );
  return met.filter((m) => m !== undefined);
}

async function payloadOf(redis: Redis, status: string): Promise<number> {
  return Number((await redis.hget(status, "bytes")) ?? 0);
}
