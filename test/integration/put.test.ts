import type { Run } from "dataflex-mq";
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
import { rejection } from "../helpers/eventually.js";
import { jobsAdded } from "../helpers/jobs.js";
import { stepKeys } from "../helpers/leaks.js";
import { startTestRedis } from "../helpers/redis.js";
import { System, useSystem } from "../helpers/system.js";

const system = useSystem({ workers: [{ slots: 2 }] });
const STAGE = "post_advantage";

function slice(step: ReturnType<typeof advantageStep>, rows: readonly number[]) {
  return {
    advantages: rows.map((r) => step.advantages[r]!),
    response_mask: rows.map((r) => step.response_mask[r]!),
  };
}
async function weightsOf(run: Run, step: number): Promise<Float32Array> {
  return (await run.weights(step, { timeoutMs: 15_000 })).pipelines[0]!.weights;
}
const statusOf = (run: Run, step: number) => runKeys(run.handle.run).step(run.handle.incarnation, `${step}.0`).status;
/** No outcome, and not a single job so far. */
async function notStarted(run: Run, step: number): Promise<void> {
  expect(await jobsAdded(system.redis, run.handle.run)).toEqual([]);
  expect(await system.redis.raw.hexists(statusOf(run, step), "settled:main")).toBe(0);
}

describe("rows", () => {
  test("only the fields that the handle asks for travel", async () => {
    const run = await system.mount();
    const step = advantageStep([1, 2]);
    const { sent, kind, attempt } = await run.put(1, STAGE, {
      ...step,
      old_log_probs: step.advantages,
      secret: ["a", "b"],
    });
    expect({ sent, kind, attempt }).toEqual({ sent: ["advantages", "response_mask"], kind: "NEW", attempt: 1 });
    expect(await run.put(1, "post_reward", { rm_scores: [[1], [2]] })).toMatchObject({
      sent: [],
      kind: "NOTHING_WANTED",
    });
  });

  test("partial puts in any order make one step, and no job is added before the last row", async () => {
    const run = await system.mount();
    const values = valuesOf(1, 6);
    const step = advantageStep(values);
    const part = (a: number, b: number) =>
      run.put(1, STAGE, slice(step, [0, 1, 2, 3, 4, 5].slice(a, b)), { rows: [a, b], total_rows: 6 });
    await part(4, 6);
    await part(0, 1);
    await part(0, 1);
    await notStarted(run, 1);
    await part(1, 4);
    expect(worst(await weightsOf(run, 1), softmaxWeights(values))).toBeLessThan(1e-5);
    expect(await jobsAdded(system.redis, run.handle.run)).toHaveLength(1);
  });

  test("fields of one stage may come in puts of their own", async () => {
    const run = await system.mount();
    const step = advantageStep([0.3, -2, 1]);
    await run.put(1, STAGE, { response_mask: step.response_mask });
    await notStarted(run, 1);
    await run.put(1, STAGE, { advantages: step.advantages });
    expect(worst(await weightsOf(run, 1), softmaxWeights([0.3, -2, 1]))).toBeLessThan(1e-5);
  });

  test("ragged rows of different widths in different puts", async () => {
    const run = await system.mount();
    await run.put(
      1,
      STAGE,
      { advantages: [[1, 1, 1, 1]], response_mask: [[1, 1, 1, 0]] },
      { rows: [0, 1], total_rows: 3 },
    );
    await run.put(1, STAGE, { advantages: [[2], [-3]], response_mask: [[1], [1]] }, { rows: [1, 3], total_rows: 3 });
    expect(worst(await weightsOf(run, 1), softmaxWeights([1, 2, -3]))).toBeLessThan(1e-5);
  });

  test("later puts name keys in an order of their own", async () => {
    const run = await system.mount();
    const keys = ["a", "b", "c", "d"];
    const values = valuesOf(2);
    const step = advantageStep(values);
    await run.put(1, STAGE, { response_mask: step.response_mask }, { keys });
    await run.put(1, STAGE, { advantages: slice(step, [3, 0]).advantages }, { keys: ["d", "a"] });
    await notStarted(run, 1);
    await run.put(1, STAGE, { advantages: slice(step, [2, 1]).advantages }, { keys: ["c", "b"] });
    expect(worst(await weightsOf(run, 1), softmaxWeights(values))).toBeLessThan(1e-5);
  });

  test("two producers that race to fix the row table, each in its own order, agree on the first", async () => {
    const a = await system.mount(SELECT);
    const b = await (await system.client()).attach(a.handle.run);
    const { rm_scores, response_mask, uid } = rewardStep([1, 0, 1, 1], 2);
    await Promise.all([
      a.put(1, "post_reward", { response_mask, uid }, { keys: ["k0", "k1", "k2", "k3"] }),
      b.put(1, "post_reward", { rm_scores: [...rm_scores].reverse() }, { keys: ["k3", "k2", "k1", "k0"] }),
    ]);
    // Whose table won is chance; the weights lie in its order.
    const got = Array.from(await weightsOf(a, 1));
    expect([
      [1, 1, 0, 0],
      [0, 0, 1, 1],
    ]).toContainEqual(got);
  });

  test("a mask put once serves later puts of any of its rows", async () => {
    const run = await system.mount();
    const values = valuesOf(8);
    const step = advantageStep(values);
    await run.put(1, STAGE, { response_mask: step.response_mask.slice(0, 3) }, { rows: [0, 3], total_rows: 4 });
    await run.put(1, STAGE, { response_mask: step.response_mask.slice(3) }, { rows: [3, 4], total_rows: 4 });
    await run.put(1, STAGE, { advantages: step.advantages.slice(2) }, { rows: [2, 4], total_rows: 4 });
    await run.put(1, STAGE, { advantages: step.advantages.slice(0, 2) }, { rows: [0, 2], total_rows: 4 });
    expect(worst(await weightsOf(run, 1), softmaxWeights(values))).toBeLessThan(1e-5);
  });

  test("unknown, duplicate and missing keys, other totals and overlaps are refused and cost nothing that was accepted", async () => {
    const run = await system.mount();
    const values = valuesOf(4);
    const step = advantageStep(values);
    const keys = ["a", "b", "c", "d"];
    expect(
      await rejection(run.put(1, STAGE, { ...slice(step, [0, 1]) }, { keys: ["a", "b"], total_rows: 4 })),
    ).toMatchObject({
      code: "INVALID_INPUT",
      message: expect.stringContaining("names all 4"),
    });
    expect(await rejection(run.put(1, STAGE, { ...step }, { keys: ["a", "b", "a", "d"] }))).toMatchObject({
      code: "INVALID_INPUT",
      message: expect.stringContaining('"a"'),
    });
    await run.put(1, STAGE, { response_mask: step.response_mask }, { keys });
    await run.put(1, STAGE, { advantages: slice(step, [0, 1]).advantages }, { keys: ["a", "b"] });
    expect(await rejection(run.put(1, STAGE, { advantages: [[1]] }, { keys: ["x"] }))).toMatchObject({
      code: "ROWS_CONFLICT",
      message: expect.stringContaining('"x"'),
    });
    const sameRows = slice(step, [0, 1]).advantages;
    expect(await rejection(run.put(1, STAGE, { advantages: sameRows }, { rows: [0, 2], total_rows: 5 }))).toMatchObject(
      {
        code: "ROWS_CONFLICT",
        message: expect.stringContaining("first put of this stage said 4"),
      },
    );
    const overlap = slice(step, [1, 2]).advantages;
    expect(await rejection(run.put(1, STAGE, { advantages: overlap }, { rows: [1, 3], total_rows: 4 }))).toMatchObject({
      code: "ROWS_CONFLICT",
      message: expect.stringContaining("advantages"),
    });
    await notStarted(run, 1);
    await run.put(1, STAGE, { advantages: slice(step, [2, 3]).advantages }, { keys: ["c", "d"] });
    expect(worst(await weightsOf(run, 1), softmaxWeights(values))).toBeLessThan(1e-5);
    await run.release(1);
    expect(await stepKeys(system.redis, runKeys(run.handle.run).runBase)).toEqual([]);
  });

  test("a put that was never accepted fixes no row table", async () => {
    const run = await system.mount();
    const bad = { advantages: [[1], [1]], response_mask: [[1], [2]] };
    expect(await rejection(run.put(1, STAGE, bad, { keys: ["old-0", "old-1"] }))).toMatchObject({
      code: "INVALID_INPUT",
    });
    await run.put(1, STAGE, { ...advantageStep([1, 2, 3]) }, { keys: ["n0", "n1", "n2"] });
    expect(worst(await weightsOf(run, 1), softmaxWeights([1, 2, 3]))).toBeLessThan(1e-5);
  });

  test("a range that is none, or no rows of this size, is refused by name", async () => {
    const run = await system.mount();
    const step = advantageStep([1, 2]);
    for (const rows of [
      [1, 1],
      [0, 3],
      [-1, 1],
      [0.5, 2],
    ] as const)
      expect(await rejection(run.put(1, STAGE, { ...step }, { rows, total_rows: 2 }))).toMatchObject({
        code: "INVALID_INPUT",
      });
    expect(await rejection(run.put(1, STAGE, { ...step }, { rows: [0, 1], total_rows: 2 }))).toMatchObject({
      code: "INVALID_INPUT",
      message: expect.stringContaining("2 rows, this put is for 1"),
    });
    expect(await rejection(run.put(-1, STAGE, { ...step }))).toMatchObject({ code: "INVALID_INPUT" });
    expect(await rejection(run.put(1.5, STAGE, { ...step }))).toMatchObject({ code: "INVALID_INPUT" });
  });

  test("a second producer's repeated and overlapping puts never start a step early", async () => {
    const a = await system.mount();
    const b = await (await system.client()).attach(a.handle.run);
    const values = valuesOf(5);
    const step = advantageStep(values);
    const put = (run: Run, from: number, to: number) =>
      run.put(1, STAGE, slice(step, [0, 1, 2, 3].slice(from, to)), { rows: [from, to], total_rows: 4 });
    await put(a, 0, 2);
    for (let i = 0; i < 5; i++) {
      expect((await put(b, 0, 2)).kind).toBe("DUPLICATE");
      expect(await rejection(put(b, 1, 3))).toMatchObject({ code: "ROWS_CONFLICT" });
      expect(await rejection(put(b, 0, 4))).toMatchObject({ code: "ROWS_CONFLICT" });
    }
    await notStarted(a, 1);
    await put(b, 2, 4);
    expect(worst(await weightsOf(a, 1), softmaxWeights(values))).toBeLessThan(1e-5);
    expect(await jobsAdded(system.redis, a.handle.run)).toHaveLength(1);
  });

  test("200 puts at once, each of one row, from two producers", async () => {
    const a = await system.mount();
    const b = await (await system.client()).attach(a.handle.run);
    const values = valuesOf(6, 200);
    await Promise.all(
      values.map((v, row) =>
        (row % 2 ? a : b).put(
          1,
          STAGE,
          { advantages: [[v, v]], response_mask: [[1, 1]] },
          { rows: [row, row + 1], total_rows: 200 },
        ),
      ),
    );
    expect(worst(await weightsOf(a, 1), softmaxWeights(values))).toBeLessThan(1e-5);
    expect(await jobsAdded(system.redis, a.handle.run)).toHaveLength(1);
  });
});

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
