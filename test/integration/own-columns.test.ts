import { describe, expect, test } from "vitest";
import { rejection } from "../helpers/eventually.js";
import { useSystem } from "../helpers/system.js";

/** Columns under names of the trainer's own, from its memory to the scorer `column`. */
const system = useSystem({ workers: [{ slots: 1 }] });
const column = (name: string, more: object = {}) => ({
  mechanism: "select",
  scorer: { name: "column", params: { name, ...more } },
  actuator: { name: "threshold_band", params: { low: 0.5, high: 100 } },
});
const response_mask = [
  [1, 1, 0],
  [1, 1, 1],
];

describe("a column of one's own", () => {
  test("of one number a row filters, whatever its name and dtype", async () => {
    const run = await system.mount(column("acc"));
    expect(run.wants).toEqual({
      post_reward: [
        { name: "response_mask", scope: "response" },
        { name: "acc", scope: "mask", kind: "numbers" },
      ],
    });
    const forms = [[0.25, 1], Float64Array.of(0.25, 1), { data: Int8Array.of(0, 1), shape: [2] }, [false, true]];
    for (const [step, acc] of forms.entries()) {
      await run.put(step, "post_reward", { acc: acc, response_mask });
      expect((await run.weights(step)).pipelines[0]!.kept, String(step)).toEqual(Int32Array.of(1));
    }
  });

  test.each([
    ["mean", [3, 4]],
    ["sum", [6, 12]],
    ["last", [5, 9]],
    ["max", [5, 9]],
    ["min", [1, 1]],
  ])("of one number a token is reduced by %s over the counted ones", async (reduce, scores) => {
    const run = await system.mount({
      mechanism: "reweight",
      scorer: { name: "column", params: { name: "head_2", reduce } },
      actuator: { name: "softmax", params: { temperature: 1 } },
      normalize: "none",
    });
    await run.put(1, "post_reward", {
      head_2: [
        [1, 5, 700],
        [2, 1, 9],
      ],
      response_mask,
    });
    const { score_stats } = (await run.weights(1)).pipelines[0]!;
    expect(score_stats?.mean).toBeCloseTo((scores[0]! + scores[1]!) / 2, 12);
  });

  test("is put at the stage where verl has it, or where the configuration says", async () => {
    const stages = async (name: string, more = {}) => Object.keys((await system.mount(column(name, more))).wants);
    expect(await stages("staleness")).toEqual(["post_reward"]);
    expect(await stages("advantages")).toEqual(["post_advantage"]);
    expect(await stages("staleness", { stage: "post_advantage" })).toEqual(["post_advantage"]);
  });

  test("comes in one form for all who read it, and under a name that can stand on the wire", async () => {
    const { scorer, actuator } = column("difficulty");
    const pipelines = {
      rows: { ...column("x"), scorer },
      tokens: { mechanism: "reweight", scorer: { name: "advantage_magnitude" }, actuator: { name: "softmax" } },
    };
    await expect(system.mount({ pipelines })).resolves.toBeDefined();
    for (const name of ["uid", "a b", "constructor"]) {
      const error = await rejection(system.mount({ ...column(name), actuator }));
      expect(error, name).toMatchObject({ code: "CONFIG", message: expect.stringContaining(name) });
    }
  });
});

describe("forms that trainers have", () => {
  const REWARD = {
    mechanism: "select",
    scorer: { name: "group_mean_reward" },
    actuator: { name: "threshold_band", params: { low: 0, high: 1 } },
  };
  const uid = ["7", "7"];

  test("rewards and advantages of one number a row weigh as those of each token do", async () => {
    const run = await system.mount(REWARD);
    await run.put(1, "post_reward", { rm_scores: [0.25, 1], response_mask, uid });
    await run.put(2, "post_reward", { response_mask });
    await run.put(2, "post_reward", { rm_scores: Float32Array.of(0.25, 1), uid });
    for (const step of [1, 2]) expect((await run.weights(step)).pipelines[0]!.score_stats?.mean).toBe(0.625);
    const soft = await system.mount();
    await soft.put(1, "post_advantage", { advantages: [-2, 1], response_mask });
    await soft.put(2, "post_advantage", {
      advantages: [
        [-2, -2, 9],
        [1, 1, 1],
      ],
      response_mask,
    });
    expect((await soft.weights(1)).combined).toEqual((await soft.weights(2)).combined);
    const error = await rejection(soft.put(3, "post_advantage", { advantages: [-2, 1] }));
    expect(error).toMatchObject({ code: "INVALID_INPUT", message: expect.stringContaining("response_mask") });
  });

  test("group ids may be whole numbers, each exact; others are refused with their row", async () => {
    const run = await system.mount(REWARD);
    const ids = [
      [7, 7],
      Int32Array.of(7, 7),
      BigInt64Array.of(2n ** 60n, 2n ** 60n),
      { data: BigInt64Array.of(7n, 7n), shape: [2] },
    ];
    for (const [step, own] of ids.entries()) {
      await run.put(step, "post_reward", { rm_scores: [0, 1], response_mask, uid: own });
      expect((await run.weights(step)).pipelines[0]!.score_stats?.mean).toBe(0.5);
    }
    const apart = BigInt64Array.of(2n ** 60n, 2n ** 60n + 1n);
    await run.put(9, "post_reward", { rm_scores: [0, 1], response_mask, uid: apart });
    expect((await run.weights(9)).pipelines[0]!.kept).toEqual(new Int32Array());
    for (const own of [
      [7, 2 ** 53],
      [7, 7.5],
      [7, "7"],
      [7, null],
    ]) {
      const error = await rejection(
        run.put(10, "post_reward", { rm_scores: [0, 1], response_mask, uid: own as never }),
      );
      expect(error).toMatchObject({ code: "INVALID_INPUT", message: expect.stringContaining("in row 1") });
    }
  });

  test("a misspelt field is refused with the name that is missing; fields that nobody wants are not", async () => {
    const run = await system.mount();
    const error = await rejection(run.put(1, "post_advantage", { advantage: [[1], [1]], response_mask: [[1], [1]] }));
    expect(error).toMatchObject({
      code: "INVALID_INPUT",
      message: expect.stringMatching(/"advantage".*"advantages"/),
    });
    const extra = { advantages: [[1], [1]], response_mask: [[1], [1]], values: [[1], [1]], note: ["a", "b"] };
    expect((await run.put(1, "post_advantage", extra)).sent).toEqual(["advantages", "response_mask"]);
  });

  test("a step without rows is an empty list", async () => {
    const run = await system.mount(REWARD);
    await run.put(1, "post_reward", { rm_scores: [], response_mask: [], uid: [] });
    expect((await run.weights(1)).pipelines[0]!.kept).toEqual(new Int32Array());
  });
});
