import { describe, expect, test } from "vitest";
import { advantageStep, REWEIGHT, rewardStep, SELECT, softmaxWeights, TOKEN, worst } from "../helpers/batches.js";
import { rejection } from "../helpers/eventually.js";
import { useSystem } from "../helpers/system.js";

const system = useSystem({ workers: [{ slots: 4 }] });
const STAGE = "post_advantage";
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
