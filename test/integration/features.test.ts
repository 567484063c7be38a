import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { rejection } from "../helpers/eventually.js";
import { useSystem } from "../helpers/system.js";

/** Vectors of numbers a row, whose width has nothing to do with tokens, and strings under any name. */
const system = useSystem({ workers: [{ plugins: [join(import.meta.dirname, "../helpers/plugins/features.ts")] }] });
const STAGE = "post_reward";
const band = { name: "threshold_band", params: { low: 4, high: 100 } };
const select = (name: string, params = {}, actuator: object = band) => ({
  mechanism: "select",
  scorer: { name, params },
  actuator,
});
const response_mask = [[1], [1, 1, 1], [1, 1]];
const features = { data: Float32Array.of(3, 4, 1, 1, 0, -9), shape: [3, 2] };

describe("features", () => {
  test.each([
    ["feature_norm", "features"],
    ["embedding_norm", "prompt_embedding"],
  ])("travel whole, in one put or several, in any order of rows (%s)", async (scorer, field) => {
    const run = await system.mount(select(scorer));
    expect(run.wants[STAGE]?.find(({ name }) => name === field)?.scope).toBeUndefined();
    await run.put(1, STAGE, { [field]: features, response_mask });
    await run.put(
      2,
      STAGE,
      {
        [field]: [
          [3, 4],
          [1, 1],
        ],
        response_mask: response_mask.slice(0, 2),
      },
      part(0, 2),
    );
    await run.put(2, STAGE, { [field]: [[0, -9]], response_mask: response_mask.slice(2) }, part(2, 3));
    await run.put(
      3,
      STAGE,
      {
        [field]: [
          [0, -9],
          [3, 4],
          [1, 1],
        ],
        response_mask: [[1, 1], [1], [1, 1, 1]],
      },
      keys("c", "a", "b"),
    );
    const half = { data: Uint16Array.of(0x4200, 0x4400, 0, 0, 0, 0xc880), shape: [3, 2], dtype: "f16" } as const;
    await run.put(4, STAGE, { [field]: half, response_mask });
    for (const step of [1, 2, 4]) {
      expect((await run.weights(step)).pipelines[0]!.kept, String(step)).toEqual(Int32Array.of(0, 2));
    }
    expect((await run.weights(3)).pipelines[0]!.kept).toEqual(Int32Array.of(0, 1));
  });

  test("are refused in other forms, by row", async () => {
    const run = await system.mount(select("feature_norm"));
    const bad: readonly [string, unknown][] = [
      ["(rows, d)", [1, 2, 3]],
      [
        "3 numbers in row 2, where row 0 has 2",
        [
          [3, 4],
          [1, 1],
          [1, 2, 3],
        ],
      ],
      ["f64", { data: Float64Array.of(1, 2, 3), shape: [3, 1] }],
      ["strings", ["a", "b", "c"]],
      [
        '"features" has 2 rows',
        [
          [3, 4],
          [1, 1],
        ],
      ],
    ];
    for (const [words, value] of bad) {
      const error = await rejection(run.put(1, STAGE, { features: value as never, response_mask }));
      expect(error, words).toMatchObject({ code: "INVALID_INPUT", message: expect.stringContaining(words) });
    }
  });

  test("of other widths in other puts, or not finite, are a failure that says so", async () => {
    const run = await system.mount(select("feature_norm"));
    await run.put(
      1,
      STAGE,
      {
        features: [
          [3, 4],
          [1, 1],
        ],
        response_mask: response_mask.slice(0, 2),
      },
      part(0, 2),
    );
    await run.put(1, STAGE, { features: [[0]], response_mask: response_mask.slice(2) }, part(2, 3));
    expect(await rejection(run.weights(1))).toMatchObject({
      code: "DECODE",
      message: expect.stringContaining("2 and of 1"),
    });
    await run.put(2, STAGE, {
      features: [
        [3, 4],
        [1, Number.NaN],
        [0, 0],
      ],
      response_mask,
    });
    expect(await rejection(run.weights(2))).toMatchObject({ code: "NON_FINITE", details: { row: 1 } });
  });
});

test("strings under a name of one's own", async () => {
  const run = await system.mount(select("source_is", { source: "web" }, { ...band, params: { low: 0.5, high: 2 } }));
  await run.put(1, STAGE, { source: ["web", "book", "web"], response_mask });
  expect((await run.weights(1)).pipelines[0]!.kept).toEqual(Int32Array.of(0, 2));
  const error = await rejection(run.put(2, STAGE, { source: [1.5, 2, 3], response_mask }));
  expect(error).toMatchObject({ code: "INVALID_INPUT", message: expect.stringContaining("source") });
});

function part(start: number, stop: number) {
  return { rows: [start, stop] as const, total_rows: 3 };
}

function keys(...names: string[]) {
  return { keys: names };
}
