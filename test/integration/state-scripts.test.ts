import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DEFAULT_LIMITS } from "../../src/columns/limits.js";
import type { OutcomeHeader } from "../../src/protocol/messages.js";
import { packEntry, unpackEntry } from "../../src/protocol/saved-state.js";
import { runKeys, STATE_TTL_MS } from "../../src/redis/keys.js";
import { rawState, readState } from "../../src/redis/read-state.js";
import { restoreState } from "../../src/redis/scripts/restore-state.js";
import { settle } from "../../src/redis/scripts/settle.js";
import { StateCache } from "../../src/worker/state-cache.js";
import { startTestRedis, type TestRedis } from "../helpers/redis.js";

let redis: TestRedis;
let runs = 0;
beforeAll(async () => {
  redis = await startTestRedis();
});
afterAll(() => redis.stop());

/** A run as the scripts see it: its mount hash, and a status hash for every step that is settled. */
function aRun() {
  const run = `run-${runs++}`;
  const keys = runKeys(run);
  let incarnation = 1_700_000_000_000;
  const mount = async (next = incarnation + 1): Promise<void> => {
    incarnation = next;
    await redis.raw.hset(keys.mount, { inc: incarnation, pipelines: "mix", "need:mix": "post_reward|domain" });
  };
  const accept = async (step: string, value: number | undefined, more: { keep?: number; attempt?: number } = {}) => {
    const { keep = 100, attempt = 1 } = more;
    const { status } = keys.step(incarnation, step);
    await redis.raw.hset(status, { attempt, created: 1, inc: incarnation });
    if (attempt > 1) await redis.raw.hdel(status, "settled:mix");
    const kind = value === undefined ? "failure" : "result";
    const header = { v: 1, kind, pipeline: "mix", stage: "post_reward", attempt } as unknown as OutcomeHeader;
    const entry =
      value === undefined
        ? undefined
        : { entry: packEntry({ inc: incarnation, by: "x", values: [["a", value]] }), keep };
    return settle(redis.raw, { run, incarnation, step }, header, [], DEFAULT_LIMITS, { remember: entry });
  };
  const state = async (): Promise<Record<string, number>> => {
    const { keys: steps, entries } = rawState(await readState(redis.raw, run, "mix"));
    const read = steps.map((step, i): [string, number] => [step, unpackEntry(entries[i]!).values[0]![1]!]);
    return Object.fromEntries(read.sort());
  };
  return { run, keys, mount, accept, state, incarnation: () => incarnation };
}

describe("settle", () => {
  test("adds the step with the outcome, once, and never without it", async () => {
    const { mount, accept, state, keys } = aRun();
    await mount();
    expect(await accept("1.0", 1)).toBe("OK");
    expect(await accept("1.0", 2)).toBe("SETTLED");
    expect(await state()).toEqual({ "1.0": 1 });
    const ttl = await redis.raw.pttl(keys.state("mix"));
    expect(ttl).toBeGreaterThan(STATE_TTL_MS - 60_000);
  });

  test("a new attempt replaces the step, a failed one takes it away", async () => {
    const { mount, accept, state } = aRun();
    await mount();
    await accept("1.0", 1);
    await accept("2.0", 1);
    await accept("1.0", 5, { attempt: 2 });
    expect(await state()).toEqual({ "1.0": 5, "2.0": 1 });
    await accept("1.0", undefined, { attempt: 3 });
    expect(await state()).toEqual({ "2.0": 1 });
  });

  test("a failure alone makes no state", async () => {
    const { mount, accept, keys } = aRun();
    await mount();
    await accept("1.0", undefined);
    expect(await redis.raw.exists(keys.state("mix"))).toBe(0);
  });

  test("within an incarnation nothing rewinds: steps settle in any order", async () => {
    const { mount, accept, state } = aRun();
    await mount();
    for (const step of ["8.0", "7.0", "10.0", "9.0", "7.1"]) await accept(step, 1);
    expect(Object.keys(await state())).toEqual(["10.0", "7.0", "7.1", "8.0", "9.0"]);
  });

  test("a later incarnation drops what others said of its step and of later ones, also when it goes further back", async () => {
    const { mount, accept, state } = aRun();
    await mount();
    for (const step of ["1.0", "2.0", "9.0", "10.0", "10.1"]) await accept(step, 1);
    await mount();
    await accept("10.0", 2);
    expect(await state()).toEqual({ "1.0": 1, "2.0": 1, "9.0": 1, "10.0": 2 });
    await accept("11.0", 2);
    await accept("2.0", 2);
    expect(await state()).toEqual({ "1.0": 1, "2.0": 2, "10.0": 2, "11.0": 2 });
  });

  test("a failed step of a later incarnation goes too", async () => {
    const { mount, accept, state } = aRun();
    await mount();
    for (const step of ["1.0", "2.0", "3.0"]) await accept(step, 1);
    await mount();
    await accept("2.0", undefined);
    expect(await state()).toEqual({ "1.0": 1 });
  });

  test("a fenced incarnation adds nothing", async () => {
    const { mount, accept, state, incarnation, run, keys } = aRun();
    await mount();
    await accept("1.0", 1);
    const old = incarnation();
    await mount();
    const { status } = keys.step(old, "2.0");
    await redis.raw.hset(status, { attempt: 1, created: 1 });
    const header = {
      v: 1,
      kind: "result",
      pipeline: "mix",
      stage: "post_reward",
      attempt: 1,
    } as unknown as OutcomeHeader;
    const entry = { entry: packEntry({ inc: old, by: "x", values: [] }), keep: 9 };
    expect(
      await settle(redis.raw, { run, incarnation: old, step: "2.0" }, header, [], DEFAULT_LIMITS, { remember: entry }),
    ).toBe("FENCED");
    expect(await state()).toEqual({ "1.0": 1 });
  });

  test("keeps about as many steps as it is told, the latest", async () => {
    const { mount, accept, state } = aRun();
    await mount();
    for (let step = 1; step <= 40; step++) await accept(`${step}.0`, step, { keep: 16 });
    const steps = Object.values(await state()).sort((a, b) => a - b);
    expect(steps.length).toBeGreaterThanOrEqual(16);
    expect(steps.length).toBeLessThanOrEqual(18);
    expect(steps).toEqual(Array.from({ length: steps.length }, (_, i) => 41 - steps.length + i));
  });
});

describe("restore-state", () => {
  const entryOf = (value: number, inc = 1) => packEntry({ inc, by: "x", values: [["a", value]] });

  test("takes the place of everything, and is redone like any other incarnation's steps", async () => {
    const { mount, accept, state, run, incarnation } = aRun();
    await mount();
    for (const step of ["1.0", "2.0", "3.0"]) await accept(step, 1);
    const ref = { run, incarnation: incarnation() };
    expect(
      await restoreState(redis.raw, ref, "mix", [
        ["1.0", entryOf(7)],
        ["2.0", entryOf(7)],
      ]),
    ).toBe("OK");
    expect(await state()).toEqual({ "1.0": 7, "2.0": 7 });
    await accept("2.0", 9, { attempt: 2 });
    expect(await state()).toEqual({ "1.0": 7, "2.0": 9 });
  });

  test("an empty checkpoint empties the state; a fenced or unknown trainer changes nothing", async () => {
    const { mount, accept, state, run, incarnation } = aRun();
    await mount();
    await accept("1.0", 1);
    expect(await restoreState(redis.raw, { run, incarnation: incarnation() - 1 }, "mix", [])).toBe("FENCED");
    expect(await restoreState(redis.raw, { run: "unknown", incarnation: 1 }, "mix", [])).toBe("NOT_MOUNTED");
    expect(await state()).toEqual({ "1.0": 1 });
    expect(await restoreState(redis.raw, { run, incarnation: incarnation() }, "mix", [])).toBe("OK");
    expect(await state()).toEqual({});
  });

  test("thousands of steps at once", async () => {
    const { mount, state, run, incarnation } = aRun();
    await mount();
    const steps = Array.from({ length: 20_000 }, (_, i): [string, Uint8Array] => [`${i}.0`, entryOf(i)]);
    expect(await restoreState(redis.raw, { run, incarnation: incarnation() }, "mix", steps)).toBe("OK");
    expect(Object.keys(await state())).toHaveLength(20_000);
  });
});

describe("a state of many steps", () => {
  const PROMPTS = 256;
  const STEPS = 200;
  const entryOf = (inc: number, value: number) =>
    packEntry({ inc, by: "x", values: Array.from({ length: PROMPTS }, (_, i) => [`prompt-${i}`, value, 8]) });
  const callsOf = async (command: string): Promise<number> =>
    Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(await redis.raw.info("commandstats"))?.[1] ?? 0);
  const sentBytes = async (): Promise<number> =>
    Number(/total_net_output_bytes:(\d+)/.exec(await redis.raw.info("stats"))?.[1]);

  async function filled() {
    const run = aRun();
    await run.mount();
    const ref = { run: run.run, incarnation: run.incarnation() };
    const steps = Array.from({ length: STEPS }, (_, n) => [`${n}.0`, entryOf(1, n)] as const);
    expect(await restoreState(redis.raw, ref, "mix", steps)).toBe("OK");
    return run;
  }

  test("is rewound without an entry being read", async () => {
    const run = await filled();
    await run.accept("150.0", 1, { keep: 1000 });
    await run.mount();
    const before = await callsOf("hget");
    await run.accept("3.0", 7, { keep: 1000 });
    expect((await callsOf("hget")) - before).toBeLessThan(10);
    expect(await callsOf("hgetall")).toBe(0);
    expect(Object.keys(await run.state()).sort()).toEqual(["0.0", "1.0", "2.0", "3.0"]);
  });

  test("is read once by a worker, and then only what was added", async () => {
    const run = await filled();
    const cache = new StateCache();
    const read = async () => {
      const from = await sentBytes();
      const { keys: steps, entries } = await cache.read(redis.raw, run.run, "mix");
      const values = steps.map((step, i) => [step, unpackEntry(entries[i]!).values[0]![1]!] as const);
      return { values: new Map(values), bytes: (await sentBytes()) - from };
    };
    const all = await read();
    expect(all.values.size).toBe(STEPS);
    await run.accept(`${STEPS}.0`, 1, { keep: 1000 });
    // The first step of an incarnation rewinds, which makes everything be read again.
    await read();
    await run.accept(`${STEPS + 1}.0`, 42, { keep: 1000 });
    const added = await read();
    expect(added.values.get(`${STEPS + 1}.0`)).toBe(42);
    expect(added.values.size).toBe(STEPS + 2);
    expect(added.bytes).toBeLessThan(all.bytes / 10);
    // Settled anew, rewound, restored: what changed is never taken from before.
    await run.accept(`${STEPS + 1}.0`, 43, { attempt: 2, keep: 1000 });
    expect((await read()).values.get(`${STEPS + 1}.0`)).toBe(43);
    await run.mount();
    await run.accept("5.0", 44, { keep: 1000 });
    expect([...(await read()).values.keys()].length).toBe(6);
    const ref = { run: run.run, incarnation: run.incarnation() };
    await restoreState(redis.raw, ref, "mix", [["5.0", entryOf(1, 45)]]);
    expect([...(await read()).values]).toEqual([["5.0", 45]]);
    await redis.flush();
    expect((await read()).values.size).toBe(0);
  });
});
