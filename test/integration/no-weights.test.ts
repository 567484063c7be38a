import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runKeys } from "../../src/redis/keys.js";
import { advantageStep, REWEIGHT, SELECT, softmaxWeights, TOKEN, valuesOf, worst } from "../helpers/batches.js";
import { eventually, rejection } from "../helpers/eventually.js";
import { stepKeys } from "../helpers/leaks.js";
import { SCORERS, useFolder } from "../helpers/processes.js";
import { startTestRedis } from "../helpers/redis.js";
import { System, useSystem } from "../helpers/system.js";

const folder = useFolder();
const system = useSystem({ workers: [{ slots: 4, plugins: [SCORERS] }] });
const STAGE = "post_advantage";
const gatedBlock = (more: object = {}) => ({ ...REWEIGHT, scorer: { name: "gated", params: { folder } }, ...more });

describe("no weights", () => {
  test.each([
    ["throw", "COMPONENT", "thirteen"],
    ["throw-much", "COMPONENT", "(scorers.ts, line"],
    ["short", "COMPONENT", ""],
    ["nan", "NON_FINITE", "row 0"],
    ["exit", "COMPUTE_LOST", ""],
    ["late-throw", "COMPUTE_LOST", ""],
  ] as const)(
    "a scorer that ends in %s settles its step as %s within the deadline, the next step is served",
    async (how, code, text) => {
      const run = await system.mount({ ...REWEIGHT, scorer: { name: "unlucky", params: { how } } });
      await run.put(13, STAGE, { ...advantageStep([1, 2]) });
      await run.put(14, STAGE, { ...advantageStep([1, 2]) });
      const error = await rejection(run.weights(13, { timeoutMs: 15_000 }));
      expect(error.code).toBe(code);
      expect(error.message).toContain(text);
      expect(error.message).toContain('"main"');
      expect(worst((await run.weights(14)).pipelines[0]!.weights, softmaxWeights([1, 2]))).toBeLessThan(1e-5);
      await run.release(13);
      expect(await stepKeys(system.redis, runKeys(run.handle.run).runBase)).not.toContainEqual(
        expect.stringContaining(":13."),
      );
    },
  );

  test("one failed pipeline ends the wait at once, though another is still to come", async () => {
    const run = await system.mount({
      pipelines: { broken: { ...REWEIGHT, scorer: { name: "unlucky", params: { how: "throw" } } }, later: SELECT },
    });
    await run.put(13, STAGE, { ...advantageStep([1, 2]) });
    const started = performance.now();
    expect(await rejection(run.weights(13, { timeoutMs: 20_000 }))).toMatchObject({ code: "COMPONENT" });
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  test("a timeout names the rows of the field that are missing", async () => {
    const run = await system.mount();
    const step = advantageStep([1, 2, 3]);
    await run.put(1, STAGE, { response_mask: step.response_mask });
    await run.put(1, STAGE, { advantages: step.advantages.slice(0, 2) }, { rows: [0, 2], total_rows: 3 });
    const error = await rejection(run.weights(1, { timeoutMs: 200 }));
    expect(error).toMatchObject({ code: "TIMEOUT" });
    expect(error.message).toContain('field "advantages" at stage post_advantage has 2 of 3 rows');
    // The deadline settled the step: late rows change nothing any more.
    await run.put(1, STAGE, { advantages: step.advantages.slice(2) }, { rows: [2, 3], total_rows: 3 });
    expect(await rejection(run.weights(1, { timeoutMs: 3_000 }))).toMatchObject({ code: "TIMEOUT" });
  });

  test("a timeout says that nothing was put at a stage, or of the step at all", async () => {
    const run = await system.mount({ pipelines: { a: REWEIGHT, b: SELECT } });
    await run.put(1, STAGE, { ...advantageStep([1, 2]) });
    expect((await rejection(run.weights(1, { timeoutMs: 500 }))).message).toContain(
      "nothing was put at stage post_reward",
    );
    expect((await rejection(run.weights(2, { timeoutMs: 100 }))).message).toContain("knows nothing of step 2.0");
  });

  test("a timeout names the busy workers, the missing broker, the missing worker", async () => {
    const other = new System();
    other.redis = await startTestRedis();
    try {
      const broker = await other.broker();
      const worker = await other.worker({ plugins: [SCORERS] });
      const run = await other.mount(gatedBlock());
      for (const step of [1, 2]) await run.put(step, STAGE, { ...advantageStep([1, 2]) });
      await eventually(() => worker.active === 1);
      expect((await rejection(run.weights(2, { timeoutMs: 3_500 }))).message).toContain("all 1 worker(s)");
      writeFileSync(join(folder, "open-1"), "");
      await run.weights(1);
      await broker.stop();
      await run.put(3, STAGE, { ...advantageStep([1, 2]) });
      expect((await rejection(run.weights(3, { timeoutMs: 200 }))).message).toContain("no broker is alive");
      await other.broker();
      await worker.stop();
      await run.put(4, STAGE, { ...advantageStep([1, 2]) });
      expect((await rejection(run.weights(4, { timeoutMs: 200 }))).message).toContain("no live worker serves");
    } finally {
      await other.stop();
    }
  });

  test("on_unavailable: neutral answers without weights and says why; a wrong input is never covered", async () => {
    const run = await system.mount({ ...REWEIGHT, on_unavailable: "neutral" });
    await run.put(1, STAGE, { response_mask: [[1], [1]] });
    const result = await run.weights(1, { timeoutMs: 200 });
    expect(result.pipelines).toEqual([]);
    expect(result.neutral).toMatchObject({ code: "TIMEOUT" });
    expect(
      Array.from(
        result.rolloutIsWeights([
          [1, 1],
          [1, 0],
        ]),
      ),
    ).toEqual([1, 1, 1, 0]);
    await run.put(2, STAGE, { advantages: [[1], [Number.NaN]], response_mask: [[1], [1]] });
    expect(await rejection(run.weights(2))).toMatchObject({ code: "NON_FINITE" });
  });

  test("on_unavailable: neutral outlives a Redis that says nothing: put, weights and release end, the next step has weights", async () => {
    const other = new System();
    other.redis = await startTestRedis();
    try {
      await other.broker();
      await other.worker();
      const run = await other.mount({ ...REWEIGHT, on_unavailable: "neutral", max_wait_ms: 2_000 });
      const strict = await other.mount({ ...REWEIGHT, max_wait_ms: 2_000 });
      process.kill(other.redis.pid, "SIGSTOP");
      expect(await run.put(1, STAGE, { ...advantageStep([1, 2]) })).toMatchObject({ sent: [], kind: "UNAVAILABLE" });
      expect(await rejection(strict.put(1, STAGE, { ...advantageStep([1, 2]) }))).toMatchObject({
        code: "REDIS_UNREACHABLE",
      });
      const result = await run.weights(1);
      expect(result.neutral).toMatchObject({
        code: "REDIS_UNREACHABLE",
        message: expect.stringContaining("put of step"),
      });
      expect(await run.release(1)).toBe("UNAVAILABLE");
      expect(run.neutralSteps).toBe(1);
      process.kill(other.redis.pid, "SIGCONT");
      await run.put(2, STAGE, { ...advantageStep([1, 2]) }, { timeoutMs: 20_000 });
      const next = await run.weights(2);
      expect(worst(next.pipelines[0]!.weights, softmaxWeights([1, 2]))).toBeLessThan(1e-5);
      expect(await run.release(2)).not.toBe("UNAVAILABLE");
      expect(run.neutralSteps).toBe(1);
    } finally {
      process.kill(other.redis.pid, "SIGCONT");
      await other.stop();
    }
  });

  test("a shadow pipeline is computed and never delivered, nor waited for", async () => {
    const run = await system.mount({ pipelines: { real: REWEIGHT, ghost: gatedBlock({ shadow: true }) } });
    await run.put(21, STAGE, { ...advantageStep([1, 2]) });
    expect((await run.weights(21)).pipelines.map((p) => p.name)).toEqual(["real"]);
    // It is at work: the step's keys stay until it has settled, and a late put is kept out.
    expect(await run.release(21)).toBe("PENDING");
    expect(await rejection(run.put(21, STAGE, { ...advantageStep([1, 2]) }))).toMatchObject({ code: "RELEASED" });
    const { runBase } = runKeys(run.handle.run);
    expect(await stepKeys(system.redis, runBase)).not.toEqual([]);
    writeFileSync(join(folder, "open-21"), "");
    await eventually(async () => (await stepKeys(system.redis, runBase)).length === 0, {
      what: "the step's keys gone",
    });
    const notices = await system.redis.raw.xrange(runKeys(run.handle.run).notices, "-", "+");
    const settled = notices.filter(([, f]) => f.includes(run.handle.run) && f.includes("settled"));
    expect(settled).toHaveLength(2);
  });

  test("a released step cannot be waited for", async () => {
    const run = await system.mount();
    await run.put(1, STAGE, { ...advantageStep([1, 2]) });
    await run.weights(1);
    await run.release(1);
    expect(await rejection(run.weights(1, { timeoutMs: 5_000 }))).toMatchObject({ code: "RELEASED" });
  });

  test("a closed client ends its waits", async () => {
    const client = await system.client();
    const run = await client.mount({ run_id: "closing", dataflex: REWEIGHT, timeoutMs: 5_000 });
    const waiting = rejection(run.weights(1, { timeoutMs: 20_000 }));
    await eventually(async () => (await system.redis.connections()).includes("dataflex-mq:client-wait"));
    await client.close();
    expect(await waiting).toMatchObject({ code: "CLOSED" });
  });
});

describe("what a run leaves", () => {
  test("100 steps of 0.3 MB each way: no step key, and Redis' memory has grown by less than 1 MiB", async () => {
    const run = await system.mount(TOKEN);
    const [rows, width] = [32, 2_500];
    const response_mask = { data: new Uint8Array(rows * width).fill(1), shape: [rows, width] };
    const step = async (n: number): Promise<void> => {
      const data = Float32Array.from({ length: rows * width }, (_, i) => -((i * 31 + n) % 97) / 50);
      await run.put(n, STAGE, { old_log_probs: { data, shape: [rows, width] }, response_mask });
      await run.weights(n);
      await run.release(n);
    };
    for (let n = 0; n < 10; n++) await step(n);
    const before = await system.redis.usedBytes();
    for (let n = 10; n < 110; n++) await step(n);
    expect(await stepKeys(system.redis, runKeys(run.handle.run).runBase)).toEqual([]);
    expect((await system.redis.usedBytes()) - before).toBeLessThan(1 << 20);
  });

  test("connections stay the same in number over 100 jobs", async () => {
    const run = await system.mount();
    const use = async (n: number): Promise<void> => {
      await run.put(n, STAGE, { ...advantageStep(valuesOf(n)) });
      await run.weights(n);
      await run.release(n);
    };
    await use(0);
    const before = (await system.redis.connections()).length;
    for (let n = 1; n <= 100; n += 10) await Promise.all(Array.from({ length: 10 }, (_, i) => use(n + i)));
    await eventually(async () => (await system.redis.connections()).length <= before + 3, {
      what: "as few connections",
    });
  });
});
