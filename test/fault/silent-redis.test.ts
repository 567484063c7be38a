import { afterAll, expect, test } from "vitest";
import { exited, Fleet } from "../helpers/processes.js";
import { startTestRedis } from "../helpers/redis.js";

/** Far below what a drain of jobs may take. */
const SECONDS_MS = 10_000;
const redis = await startTestRedis();
const fleet = new Fleet();
afterAll(() => redis.stop());

test.each(["worker", "broker"] as const)(
  "an idle %s that is stopped (SIGTERM) while Redis answers nothing (SIGSTOP) ends in seconds, with 0",
  async (role) => {
    const service = await fleet.spawn(role, redis.url);
    process.kill(redis.pid, "SIGSTOP");
    try {
      const started = performance.now();
      service.child.kill("SIGTERM");
      await exited(service);
      expect(performance.now() - started).toBeLessThan(SECONDS_MS);
      expect([service.child.exitCode, service.child.signalCode]).toEqual([0, null]);
    } finally {
      process.kill(redis.pid, "SIGCONT");
    }
  },
  60_000,
);
