import type { Run } from "dataflex-mq";
import { describe, expect, test } from "vitest";
import { runKeys } from "../../src/redis/keys.js";
import { advantageStep, REWEIGHT, rewardStep, SELECT, softmaxWeights, TOKEN, worst } from "../helpers/batches.js";
import { rejection } from "../helpers/eventually.js";
import { stepKeys } from "../helpers/leaks.js";
import { startTestRedis } from "../helpers/redis.js";
import { System, useSystem } from "../helpers/system.js";

const system = useSystem({ workers: [{ slots: 2 }] });
const STAGE = "post_advantage";

async function weightsOf(run: Run, step: number): Promise<Float32Array> {
  return (await run.weights(step, { timeoutMs: 15_000 })).pipelines[0]!.weights;
}

describe("the same put again", () => {
  test("is a no-op; other content is a conflict that changes nothing", async () => {
    const run = await system.mount();
    const step = advantageStep([1, 2, 3]);
    expect((await run.put(1, STAGE, { ...step })).kind).toBe("NEW");
    expect((await run.put(1, STAGE, { ...step })).kind).toBe("DUPLICATE");
    const other = advantageStep([3, 2, 1]);
    expect(await rejection(run.put(1, STAGE, { ...other }))).toMatchObject({
      code: "PUT_CONFLICT",
      message: expect.stringContaining("replace: true"),
    });
    expect(worst(await weightsOf(run, 1), softmaxWeights([1, 2, 3]))).toBeLessThan(1e-5);
    await run.release(1);
    expect(await stepKeys(system.redis, runKeys(run.handle.run).runBase)).toEqual([]);
  });

  test("with replace opens a new attempt, before and after the weights came", async () => {
    const run = await system.mount();
    await run.put(1, STAGE, { ...advantageStep([1, 2, 3]) });
    for (const [attempt, values] of [
      [2, [3, 1, 2]],
      [3, [-1, 5, 2]],
    ] as const) {
      const done = await run.put(1, STAGE, { ...advantageStep(values) }, { replace: true });
      expect(done).toMatchObject({ kind: "REPLACED", attempt });
      expect(worst(await weightsOf(run, 1), softmaxWeights(values))).toBeLessThan(1e-5);
    }
    await run.release(1);
    expect(await stepKeys(system.redis, runKeys(run.handle.run).runBase)).toEqual([]);
  });

  test("with replace voids the outcomes of every stage", async () => {
    const run = await system.mount({ pipelines: { kept: SELECT, weighed: REWEIGHT } });
    await run.put(1, "post_reward", rewardStep([1, 0, 1, 1], 2));
    await run.put(1, STAGE, { ...advantageStep([1, 2, 3, 4]) });
    const first = await run.weights(1);
    expect(first.pipelines.map((p) => Array.from(p.weights, (w) => Math.round(w * 1e5) / 1e5))[0]).toEqual([
      1, 1, 0, 0,
    ]);
    await run.put(1, STAGE, { ...advantageStep([4, 3, 2, 1]) }, { replace: true });
    const second = await run.weights(1);
    expect(worst(second.pipelines[1]!.weights, softmaxWeights([4, 3, 2, 1]))).toBeLessThan(1e-5);
    expect(second.pipelines[0]!.weights).toEqual(first.pipelines[0]!.weights);
  });

  test("after a release is refused and leaves nothing behind", async () => {
    const run = await system.mount();
    await run.put(1, STAGE, { ...advantageStep([1, 2]) });
    await run.weights(1);
    expect(await run.release(1)).toBe("BURIED");
    expect(await run.release(1)).toBe("BURIED");
    expect(await rejection(run.put(1, STAGE, { ...advantageStep([1, 2]) }))).toMatchObject({ code: "RELEASED" });
    expect(await run.release(99)).toBe("UNKNOWN");
    expect(await rejection(run.put(99, STAGE, { ...advantageStep([1, 2]) }))).toMatchObject({ code: "RELEASED" });
    expect(await stepKeys(system.redis, runKeys(run.handle.run).runBase)).toEqual([]);
  });
});

describe("values", () => {
  test("NaN inside the mask is refused with row and column; under mask 0 it changes no bit", async () => {
    const run = await system.mount();
    const mask = [
      [1, 1, 0],
      [1, 1, 1],
    ];
    await run.put(1, STAGE, {
      advantages: [
        [1, 1, 1],
        [2, 2, Number.NaN],
      ],
      response_mask: mask,
    });
    expect(await rejection(weightsOf(run, 1))).toMatchObject({ code: "NON_FINITE", details: { row: 1, column: 2 } });
    await run.put(2, STAGE, {
      advantages: [
        [1, 1, Number.NaN],
        [2, 2, 2],
      ],
      response_mask: mask,
    });
    await run.put(3, STAGE, {
      advantages: [
        [1, 1, 7],
        [2, 2, 2],
      ],
      response_mask: mask,
    });
    expect(await weightsOf(run, 2)).toEqual(await weightsOf(run, 3));
  });

  test("a step of many chunks, in and out", async () => {
    const run = await system.mount(TOKEN);
    const [rows, width] = [64, 9_001];
    const data = Float32Array.from({ length: rows * width }, (_, i) => -Math.abs(Math.sin(i * 12.9898)) * 5);
    const mask = Float32Array.from({ length: rows * width }, (_, i) => (i % width < width - (i % 7) * 3 ? 1 : 0));
    await run.put(1, STAGE, {
      old_log_probs: { data, shape: [rows, width] },
      response_mask: { data: Uint8Array.from(mask), shape: [rows, width] },
    });
    const key = (await system.redis.keys(`${runKeys(run.handle.run).runBase}:*:${STAGE}:*`))[0]!;
    expect(await system.redis.raw.xlen(key)).toBeGreaterThan(2);
    const { weights, shape } = (await run.weights(1)).pipelines[0]!;
    expect(shape).toEqual([rows, width]);
    // w = 1 − α + α·p, mean one over the live tokens.
    const raw = data.map((lp, i) => (mask[i] ? 0.5 + 0.5 * Math.exp(lp) : 0));
    const live = mask.reduce((a, b) => a + b, 0);
    const mean = raw.reduce((a, b) => a + b, 0) / live;
    expect(
      worst(
        weights,
        raw.map((w) => w / mean),
      ),
    ).toBeLessThan(1e-4);
    await run.release(1);
    expect(await stepKeys(system.redis, runKeys(run.handle.run).runBase)).toEqual([]);
  });

  test("a server whose longest value is 1 MiB takes the same step", async () => {
    const small = new System();
    small.redis = await startTestRedis(["--proto-max-bulk-len", "1mb"]);
    try {
      await small.broker();
      await small.worker();
      const run = await small.mount(TOKEN);
      const data = Float32Array.from({ length: 40 * 9_000 }, (_, i) => -Math.abs(Math.sin(i)));
      const response_mask = { data: new Uint8Array(data.length).fill(1), shape: [40, 9_000] };
      await run.put(1, STAGE, { old_log_probs: { data, shape: [40, 9_000] }, response_mask });
      expect((await run.weights(1, { timeoutMs: 10_000 })).pipelines[0]!.weights).toHaveLength(data.length);
    } finally {
      await small.stop();
    }
  });
});

describe("a full Redis", () => {
  test("refuses the put by name, marks nothing, still settles and releases, and takes the same put later", async () => {
    const full = new System();
    full.redis = await startTestRedis();
    try {
      await full.broker();
      await full.worker();
      const run = await full.mount(TOKEN);
      const limit = async (bytes: number) => void (await full.redis.raw.config("SET", "maxmemory", String(bytes)));
      const data = Float32Array.from({ length: 40 * 9_000 }, (_, i) => -Math.abs(Math.sin(i)));
      const fields = {
        old_log_probs: { data, shape: [40, 9_000] },
        response_mask: { data: new Uint8Array(data.length).fill(1), shape: [40, 9_000] },
      };
      await run.put(1, STAGE, fields);
      await run.weights(1, { timeoutMs: 10_000 });
      await limit((await full.redis.usedBytes()) + 1);
      const error = await rejection(run.put(2, STAGE, fields));
      expect(error).toMatchObject({ code: "REDIS_FULL" });
      const status = runKeys(run.handle.run).step(run.handle.incarnation, "2.0").status;
      expect(await full.redis.raw.exists(status)).toBe(0);
      // Nothing frees memory but a release: it must work now.
      expect(await run.release(1)).toBe("BURIED");
      await limit(0);
      await run.put(2, STAGE, fields);
      expect((await run.weights(2, { timeoutMs: 10_000 })).pipelines[0]!.weights).toHaveLength(data.length);
    } finally {
      await full.stop();
    }
  });
});
