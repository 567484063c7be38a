import type { Redis } from "ioredis";
import { runKeys } from "../../src/redis/keys.js";
import { eventually } from "../../test/helpers/eventually.js";
import type { Crew } from "../producers/crew.js";

/** Longer than a late worker takes to settle, a walk over the open steps, and a producer's heartbeat. */
const SETTLE_MS = 20_000;

/** Keys of steps that should be gone: all were released. Tombstones, and steps of trainers that died, end with their TTL. */
export async function leftOver(redis: Redis, crews: readonly Crew[]): Promise<string[]> {
  let found: string[] = [];
  const gone = async (): Promise<boolean> => {
    found = (await Promise.all(crews.map((crew) => stepKeys(redis, crew)))).flat();
    return found.length === 0;
  };
  await eventually(gone, { timeoutMs: SETTLE_MS }).catch(() => {});
  return found;
}

async function stepKeys(redis: Redis, crew: Crew): Promise<string[]> {
  const { runBase, encoded } = runKeys(crew.run);
  const steps = `${runBase}:${crew.incarnation}:`;
  // A job's id begins with its run; so do the names of its step's keys.
  const keys = (await redis.keys("dfx*")).filter(
    (key) => key.startsWith(steps) || key.includes(`:${encoded}~${crew.incarnation}~`),
  );
  const buried = await Promise.all(keys.map((key) => (key.endsWith(":status") ? redis.hget(key, "buried") : null)));
  const all = keys.filter((_, i) => buried[i] !== "1");
  const endless = (await redis.keys(`${runBase}:*.*:*`)).filter((key) => !key.startsWith(steps));
  const ttls = await Promise.all(endless.map((key) => redis.pttl(key)));
  return [...all, ...endless.filter((_, i) => ttls[i] === -1).map((key) => `${key} (no TTL)`)];
}
