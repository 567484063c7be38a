import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { runKeys } from "../../src/redis/keys.js";
import {
  advantageStep,
  REWEIGHT,
  rewardStep,
  SELECT,
  softmaxWeights,
  TOKEN,
  valuesOf,
  worst,
} from "../helpers/batches.js";
import { eventually, rejection } from "../helpers/eventually.js";
import { stepKeys } from "../helpers/leaks.js";
import { startTestRedis } from "../helpers/redis.js";
import { System, useSystem } from "../helpers/system.js";

const PLUGIN = fileURLToPath(new URL("../helpers/plugins/scorers.ts", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "dfx-results-"));
const system = useSystem({ workers: [{ slots: 4, plugins: [PLUGIN] }] });
const STAGE = "post_advantage";
const gatedBlock = (more: object = {}) => ({ ...REWEIGHT, scorer: { name: "gated", params: { folder } }, ...more });
const rounded = (weights: ArrayLike<number>, digits = 4) => Array.from(weights, (w) => Number(w.toFixed(digits)));

describe("weights", () => {
  test("of rows, with statistics, producer and shape", async () => {
    const run = await system.mount();
    await run.put(7, STAGE, { ...advantageStep([1, 2, 3]) });
    const result = await run.weights(7);
    const [p] = result.pipelines;
    expect(p).toMatchObject({ name: "main", mechanism: "reweight", granularity: "row", rows: 3, shape: [3] });
    expect(worst(p!.weights, softmaxWeights([1, 2, 3]))).toBeLessThan(1e-5);
    expect(p!.stats).toMatchObject({ n: 3 });
    expect(p!.stats!.mean).toBeCloseTo(1, 5);
    expect(p!.producer).toMatchObject({ worker: system.workers[0]!.id, pid: process.pid });
    expect(result.combined).toEqual({ weights: p!.weights, shape: [3] });
    expect(result.neutral).toBeUndefined();
    // Asked again, the same answer.
    expect((await run.weights(7)).pipelines[0]!.weights).toEqual(p!.weights);
  });

  test("of tokens lie over the mask and have mean one there", async () => {
    const run = await system.mount(TOKEN);
    const response_mask = [
      [1, 0, 1, 0],
      [1, 1, 0, 0],
    ];
    await run.put(1, STAGE, {
      old_log_probs: [
        [0, -9, -1, -9],
        [-2, -3, -9, -9],
      ],
      response_mask,
    });
    const [p] = (await run.weights(1)).pipelines;
    const raw = [0, -1, -2, -3].map((lp) => 0.5 + 0.5 * Math.exp(lp));
    const mean = raw.reduce((a, b) => a + b) / 4;
    const [a, b, c, d] = raw.map((w) => w / mean);
    expect(p).toMatchObject({ granularity: "token", shape: [2, 4] });
    expect(worst(p!.weights, [a!, 0, b!, 0, c!, d!, 0, 0])).toBeLessThan(1e-5);
    // The loss's mask may have lost tokens since; what was never scored cannot come back.
    const result = await run.weights(1);
    expect(
      rounded(
        result.rolloutIsWeights([
          [1, 0, 0, 0],
          [1, 1, 0, 0],
        ]),
      ),
    ).toEqual(rounded([a!, 0, 0, 0, c!, d!, 0, 0]));
    expect(() =>
      result.rolloutIsWeights([
        [1, 1, 0, 0],
        [1, 1, 0, 0],
      ]),
    ).toThrow(/row 0, column 1/);
  });

  test("of two pipelines at two stages are multiplied, clipped, rescaled and joined with the trainer's own", async () => {
    const pipelines = { keep: SELECT, weigh: REWEIGHT };
    const plain = await system.mount({ pipelines });
    const clipped = await system.mount({ pipelines, clip: [0.9, 1.1], rescale: "row" });
    const values = [1, 2, 1, 3];
    const mask = [
      [1, 1],
      [1, 1],
      [1, 1],
      [1, 1],
    ];
    for (const run of [plain, clipped]) {
      await run.put(1, "post_reward", rewardStep([1, 0, 1, 1], 2));
      await run.put(1, STAGE, { advantages: values.map((v) => [v, v]), response_mask: mask });
    }
    const soft = softmaxWeights(values);
    const both = await plain.weights(1);
    expect(worst(both.combined.weights, [soft[0]!, soft[1]!, 0, 0])).toBeLessThan(1e-5);
    const own = [2, 2, 1, 1, 1, 1, 1, 1];
    expect(
      worst(both.rolloutIsWeights(mask, own), [2 * soft[0]!, 2 * soft[0]!, soft[1]!, soft[1]!, 0, 0, 0, 0]),
    ).toBeLessThan(1e-5);
    const clip = [soft[0]!, soft[1]!].map((w) => Math.min(Math.max(w, 0.9), 1.1));
    const scale = 4 / (clip[0]! + clip[1]!);
    expect(worst((await clipped.weights(1)).combined.weights, [clip[0]! * scale, clip[1]! * scale, 0, 0])).toBeLessThan(
      1e-5,
    );
    // One stage alone can be waited for while the other still runs.
    expect((await plain.weights(1, { stages: ["post_reward"] })).pipelines.map((p) => p.name)).toEqual(["keep"]);
  });

  test("of several updates of one step are kept apart by their trigger", async () => {
    const run = await system.mount();
    await run.put(1, STAGE, { ...advantageStep([1, 2]) }, { trigger: 0 });
    await run.put(1, STAGE, { ...advantageStep([5, 1]) }, { trigger: 1 });
    expect(worst((await run.weights(1)).pipelines[0]!.weights, softmaxWeights([1, 2]))).toBeLessThan(1e-5);
    expect(worst((await run.weights(1, { trigger: 1 })).pipelines[0]!.weights, softmaxWeights([5, 1]))).toBeLessThan(
      1e-5,
    );
    expect(await run.release(1)).toBe("BURIED");
    expect((await run.weights(1, { trigger: 1 })).trigger).toBe(1);
  });

  test("of the same step after a resume are new ones", async () => {
    const first = await system.mount(REWEIGHT, { run_id: "resumed" });
    await first.put(42, STAGE, { ...advantageStep([1, 2, 3]) });
    await first.weights(42);
    await first.close();
    const second = await system.mount(REWEIGHT, { run_id: "resumed" });
    await second.put(42, STAGE, { ...advantageStep([3, 1, 0]) });
    expect(worst((await second.weights(42)).pipelines[0]!.weights, softmaxWeights([3, 1, 0]))).toBeLessThan(1e-5);
  });

  test("a group with a missing rollout fails the step by name, or is scored when asked so", async () => {
    const strict = await system.mount(SELECT, { group_size: 4 });
    const lenient = await system.mount({ ...SELECT, on_incomplete_group: "score" }, { group_size: 4 });
    const three = rewardStep([1, 0, 1], 4);
    for (const run of [strict, lenient]) await run.put(1, "post_reward", three);
    expect(await rejection(strict.weights(1, { timeoutMs: 10_000 }))).toMatchObject({
      code: "INCOMPLETE_GROUP",
      message: expect.stringContaining("prompt-0"),
    });
    // 2 of 3, not 2 of 4.
    const [p] = (await lenient.weights(1)).pipelines;
    expect(rounded(p!.weights)).toEqual([1, 1, 1]);
    expect(p!.score_stats!.mean).toBeCloseTo(2 / 3, 6);
  });
});

describe("no weights", () => {
  test.each([
    ["throw", "COMPONENT", "thirteen"],
    ["throw-much", "COMPONENT", "characters)"],
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
      const worker = await other.worker({ plugins: [PLUGIN] });
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
