import type { Redis } from "ioredis";
import { sleep } from "../lifecycle.js";
import { HEARTBEAT_MS, HEARTBEAT_TTL_MS } from "../redis/keys.js";
import { workerPresence } from "../redis/presence.js";

/** A living worker that could not beat, because Redis stood still, has beaten again by then. */
const CERTAIN_MS = HEARTBEAT_MS + 1_500;
const LOOK_MS = 500;

/**
 * How many of these workers are dead: their heartbeat is gone, and does not come back while Redis answers. One that beats again lives. A job's
 * stalled lock says less: a standstill of Redis or of a worker loses locks as well. Waits until it is certain of each, at most as long as a
 * heartbeat lasts and `CERTAIN_MS` more, or until `enough` are dead.
 */
export async function countDead(redis: Redis, workers: readonly string[], enough: number): Promise<number> {
  const first = await workerPresence.expiries(redis, workers);
  const open = new Set(workers);
  const absentSince = new Map<string, number>();
  let dead = 0;
  const end = performance.now() + HEARTBEAT_TTL_MS + CERTAIN_MS;
  for (let looked = performance.now(); open.size > 0 && dead < enough && performance.now() < end; ) {
    const now = await workerPresence.expiries(redis, [...open]);
    // Redis has not answered for a while: nobody could beat.
    if (performance.now() - looked > 2 * LOOK_MS) absentSince.clear();
    looked = performance.now();
    for (const [worker, expiry] of now) {
      if (expiry !== undefined) {
        absentSince.delete(worker);
        if (expiry > (first.get(worker) ?? 0)) open.delete(worker);
        continue;
      }
      const since = absentSince.get(worker) ?? looked;
      absentSince.set(worker, since);
      if (looked - since < CERTAIN_MS) continue;
      open.delete(worker);
      dead++;
    }
    await sleep(LOOK_MS);
  }
  return dead;
}
