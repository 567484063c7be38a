import type { Redis } from "ioredis";
import type { Handle } from "../../protocol/messages.js";
import { STAGES } from "../../protocol/stages.js";
import { redisNow } from "../../redis/connect.js";
import { ALL_TAGS, HEARTBEAT_TTL_MS, parseStepKey, runKeys, tagKeys } from "../../redis/keys.js";
import { readHandle } from "../../redis/mounts.js";

/** Runs looked at: of those mounted last, the ones whose trainer lives. */
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
  const found = await Promise.all(ALL_TAGS.map((tag) => livingOf(redis, tag)));
  return found.flat();
}

async function livingOf(redis: Redis, tag: string): Promise<LivingRun[]> {
  const { runs, base } = tagKeys(tag);
  const encoded = await redis.zrange(runs, "0", String(RUNS - 1), "REV");
  if (encoded.length === 0) return [];
  const now = await redisNow(redis);
  const left = await Promise.all(encoded.map((run) => redis.pttl(`${base}:${run}:trainer`)));
  const met = await Promise.all(
    encoded.map(async (run, i) => {
      if (left[i]! <= 0) return undefined;
      const handle = await readHandle(redis, { mount: `${base}:${run}:mount` });
      if (!handle) return undefined;
      const lastSeen = (now - (HEARTBEAT_TTL_MS - left[i]!)) / 1000;
      const steps = await openSteps(redis, handle);
      const sizes = await Promise.all(steps.map((step) => payloadOf(redis, handle, step)));
      const openStep = steps[0] === undefined ? undefined : parseStepKey(steps[0]).step;
      return { handle, openStep, lastSeen, inflightBytes: sizes.reduce((n, size) => n + size, 0) };
    }),
  );
  return met.filter((m) => m !== undefined);
}

/** Keys of open steps of this incarnation, the one with the latest deadline first. */
async function openSteps(redis: Redis, handle: Handle): Promise<string[]> {
  const members = await redis.zrange(runKeys(handle.run).steps, "0", String(STEPS - 1), "REV");
  return members.flatMap((member) => {
    const [incarnation, step] = member.split(":", 2);
    return Number(incarnation) === handle.incarnation && step ? [step] : [];
  });
}

async function payloadOf(redis: Redis, handle: Handle, step: string): Promise<number> {
  const { status } = runKeys(handle.run).step(handle.incarnation, step);
  const puts = await redis.hmget(status, ...STAGES.map((stage) => `puts:${stage}`));
  const names = STAGES.flatMap((stage, i) =>
    (puts[i] ?? "")
      .split(",")
      .filter(Boolean)
      .map((id) => `${stage}:${id}`),
  );
  if (names.length === 0) return 0;
  const sizes = await redis.hmget(status, ...names.map((name) => `size:${name}`));
  // `<chunks>,<bytes>`
  return sizes.reduce((n, size) => n + Number(size?.split(",")[1] ?? 0), 0);
}
