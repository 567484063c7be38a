import { encodeRun } from "../../src/redis/keys.js";
import type { TestRedis } from "./redis.js";

/**
 * Ids of the jobs ever added for a run, each once; read from BullMQ's own event streams. (A job may be added again after it has settled: the
 * walk reads a step's state, and the job ends before it is added. It then finds its step settled and does nothing.)
 */
export async function jobsAdded(redis: TestRedis, run: string): Promise<string[]> {
  return [...new Set((await jobEvents(redis, run)).filter((e) => e.event === "added").map((e) => e.jobId))];
}

export async function jobEvents(redis: TestRedis, run: string): Promise<{ event: string; jobId: string }[]> {
  const found: { event: string; jobId: string }[] = [];
  for (const stream of await redis.keys("dfx2:{q}:*:events")) {
    for (const [, flat] of await redis.raw.xrange(stream, "-", "+")) {
      const value = (name: string): string => flat[flat.indexOf(name) + 1] ?? "";
      const jobId = value("jobId");
      if (jobId.startsWith(`${encodeRun(run)}~`)) found.push({ event: value("event"), jobId });
    }
  }
  return found;
}
