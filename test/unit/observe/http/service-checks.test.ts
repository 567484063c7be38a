import type { Redis } from "ioredis";
import { describe, expect, test } from "vitest";
import type { WatchedService } from "../../../../src/lifecycle.js";
import { serviceChecks } from "../../../../src/observe/http/service-checks.js";

/** As much of a connection as the checks look at. */
const connection = (status: string, ping: () => Promise<unknown> = async () => "PONG"): Redis =>
  ({ status, ping, on: () => {} }) as unknown as Redis;

const healthy: WatchedService = {
  redis: connection("ready"),
  blocking: [connection("ready")],
  loops: [{ name: "announce", age: 10 }],
  stopping: false,
  more: [],
};
const failed = (checks: readonly { name: string; ok: boolean }[]): string[] =>
  checks.filter((c) => !c.ok).map((c) => c.name);

describe("readiness", () => {
  test.each<[string, Partial<WatchedService>, string[]]>([
    ["all well", {}, []],
    ["not started", { redis: undefined, blocking: [] }, ["redis_command", "redis_blocking"]],
    ["Redis away", { redis: connection("reconnecting") }, ["redis_command"]],
    [
      "only the blocking connection away",
      { blocking: [connection("ready"), connection("connecting")] },
      ["redis_blocking"],
    ],
    [
      "Redis answers with an error",
      { redis: connection("ready", () => Promise.reject(new Error("LOADING"))) },
      ["redis_command"],
    ],
    ["stopping", { stopping: true }, ["not_stopping"]],
    ["no backend", { more: [{ name: "backend", ok: false, reason: "not open yet" }] }, ["backend"]],
  ])("%s", async (_, more, want) => {
    const checks = await serviceChecks(() => ({ ...healthy, ...more })).ready();
    expect(failed(checks)).toEqual(want);
    for (const c of checks) expect(c.reason).not.toBe("");
  });

  test("a Redis that is silent fails within seconds", async () => {
    const silent = connection("ready", () => new Promise(() => {}));
    expect(failed(await serviceChecks(() => ({ ...healthy, redis: silent })).ready())).toEqual(["redis_command"]);
  });
});

describe("health", () => {
  const health = (more: Partial<WatchedService>) => serviceChecks(() => ({ ...healthy, ...more })).health();

  test("Redis away: not ready, still alive", async () => {
    const away = { redis: connection("reconnecting"), loops: [{ name: "announce", age: 600_000 }] };
    expect(failed(await health(away))).toEqual([]);
  });

  test("a loop that stands still although Redis answers is dead", async () => {
    const stuck = { ...healthy, loops: [{ name: "announce", age: 600_000 }] };
    const checks = await serviceChecks(() => stuck, 0).health();
    expect(failed(checks)).toEqual(["loop_announce"]);
    expect(checks.at(-1)?.reason).toBe("last turned 600000 ms ago");
  });

  test("a loop is given time after Redis has come back", async () => {
    expect(failed(await health({ loops: [{ name: "announce", age: 600_000 }] }))).toEqual([]);
  });

  test("a loop that rests because every slot is busy is well", async () => {
    const checks = await health({ loops: [{ name: "jobs", age: 600_000, resting: true }] });
    expect(checks.find((c) => c.name === "loop_jobs")).toEqual({
      name: "loop_jobs",
      ok: true,
      reason: "every slot is busy",
    });
  });
});
