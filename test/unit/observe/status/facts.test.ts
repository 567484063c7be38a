import { expect, test } from "vitest";
import { type FactInput, facts } from "../../../../src/observe/status/facts.js";
import { serverChecks } from "../../../../src/redis/server-checks.js";

const GIB = 2 ** 30;
const full = (max: number, share: number): FactInput => ({
  at: 0,
  runs: [],
  queues: [],
  workers: [],
  brokers: [{ id: "b", host: "h", pid: 1, version: "1", http: null, leads: true }],
  errors: [],
  redis: { version: "7.0.15", used: max * share, max },
  checks: serverChecks({
    info: new Map([
      ["redis_version", "7.0.15"],
      ["maxmemory", String(max)],
      ["used_memory", String(max * share)],
      ["maxmemory_policy", "noeviction"],
    ]),
    config: undefined,
  }),
});

test.each([0.0625, 1, 2, 16, 100])("a full Redis of %f GiB is given more than it has, never less", (gib) => {
  for (const [share, level] of [
    [0.85, "warning"],
    [0.99, "critical"],
  ] as const) {
    const [fact, ...more] = facts(full(gib * GIB, share));
    expect(more).toEqual([]);
    expect(fact?.level).toBe(level);
    const [, given] = /^redis-cli CONFIG SET maxmemory (\d+)gb$/.exec(fact?.fix ?? "")!;
    expect(Number(given)).toBe(Math.ceil(2 * gib));
  }
  expect(facts(full(gib * GIB, 0.5))).toEqual([]);
});
