import type { Run } from "dataflex-mq";
import { describe, expect, test } from "vitest";
import { runKeys } from "../../src/redis/keys.js";
import { advantageStep, rewardStep, SELECT, softmaxWeights, valuesOf, worst } from "../helpers/batches.js";
import { rejection } from "../helpers/eventually.js";
import { jobsAdded } from "../helpers/jobs.js";
import { stepKeys } from "../helpers/leaks.js";
import { useSystem } from "../helpers/system.js";

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
      message: expect.stringContaining("must name all 4"),
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
        message: expect.stringContaining("first put of the step said 4"),
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
