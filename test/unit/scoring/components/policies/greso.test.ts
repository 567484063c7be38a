import { describe, expect, test } from "vitest";
import { greso, skipProbability, zeroVariance } from "../../../../../src/scoring/components/policies/greso.js";
import { runPolicy } from "../../../../../src/testing.js";

const AT = { easy_reward: 0.98, hard_reward: 0 };

/** A step's responses: two a prompt, with the rewards given. */
function step(prompts: Readonly<Record<string, readonly [number, number]>>) {
  const rows = Object.entries(prompts).flatMap(([key, rewards]) => rewards.map((reward) => ({ key, reward })));
  return {
    dataset_key: rows.map(({ key }) => key),
    uid: rows.map(({ key }) => key),
    response_mask: rows.map(() => [1, 1]),
    rm_scores: rows.map(({ reward }) => [0, reward]),
  };
}
/** How often a prompt is kept over many steps that nothing else happens in. */
async function keptOf(fed: readonly ReturnType<typeof step>[], key: string, params = {}): Promise<number> {
  let kept = 0;
  for (let n = 0; n < 400; n++) {
    const choice = await runPolicy(greso, fed, { dataset_key: [key] }, { p_change: 0, ...params }, { step: 1000 + n });
    kept += choice.kept.length;
  }
  return kept / 400;
}

test("skip probabilities at p = .5", () => {
  const skips = [0, 1, 2, 3, 4, 5, 6, 7].map((z) => skipProbability(0.5, z, 0.01));
  expect(skips).toEqual([0, 0.5, 0.75, 0.875, 0.9375, 0.96875, 0.984375, 0.99]);
});

test.each([
  [[2, 1, 1, 1, 1], "easy"],
  [[2, 0, 0, 0, 0], "hard"],
  [[2, 0.5, 0.5, 0.5, 0], undefined],
  [[2, 0.5, 0, 1, 0.5], undefined],
  [[1, 1, 1, 1, 1], undefined],
])("a visit %j is %s", (numbers, kind) => {
  expect(zeroVariance(numbers, AT)).toBe(kind);
});

describe("greso", () => {
  test("keeps what was never visited, and what taught something last", async () => {
    const fed = [step({ a: [1, 1], b: [0, 0] }), step({ a: [1, 0], b: [1, 1] })];
    expect(await keptOf(fed, "new")).toBe(1);
    expect(await keptOf(fed, "a")).toBe(1);
  });

  test("leaves out by the length of the row of the latest kind", async () => {
    const fed = [step({ a: [0, 0] }), step({ a: [1, 1] }), step({ a: [1, 1] })];
    expect(await keptOf(fed, "a")).toBeCloseTo(0.25, 1);
    expect(await keptOf([step({ a: [0, 0] })], "a", { p_hard: 0.9 })).toBeCloseTo(0.9, 1);
  });

  test("explores less while zero-variance prompts abound, more while they are rare", async () => {
    const many = Array.from({ length: 20 }, () => step({ a: [1, 1], b: [1, 1], c: [1, 0] }));
    const few = [...Array.from({ length: 20 }, () => step({ b: [1, 0], c: [1, 0] })), step({ a: [1, 1] })];
    const least = await keptOf([...many, step({ a: [1, 0] }), step({ a: [1, 1] })], "a", { p_change: 0.02 });
    const most = await keptOf(few, "a", { p_change: 0.02 });
    expect(least).toBeLessThan(0.25);
    expect(most).toBeGreaterThan(0.75);
  });

  test("draws the same for the same run, step and prompt, whatever stands beside it", async () => {
    const fed = [step({ a: [1, 1], b: [1, 1], c: [1, 1] })];
    const choose = async (keys: readonly string[], run: string) => {
      const { kept } = await runPolicy(greso, fed, { dataset_key: keys }, {}, { run });
      return [...kept].map((row) => keys[row]!).sort();
    };
    const keys = Array.from({ length: 3 }, (_, i) => "abc"[i]!);
    expect(await choose([...keys].reverse(), "r")).toEqual(await choose(keys, "r"));
    const runs = await Promise.all(["r1", "r2", "r3", "r4", "r5"].map((run) => choose(keys, run)));
    expect(new Set(runs.map(String)).size).toBeGreaterThan(1);
  });

  test("when everything is left out, on_empty decides", async () => {
    const fed = Array.from({ length: 30 }, () => step({ a: [1, 1] }));
    const choose = (on_empty: "drop_all" | "keep_all" | "error") =>
      runPolicy(greso, fed, { dataset_key: ["a"] }, { min_explore: 0 }, { settings: { on_empty } });
    expect(await choose("drop_all")).toMatchObject({ kept: Int32Array.of(), flags: ["empty_selection"] });
    expect((await choose("keep_all")).kept).toEqual(Int32Array.of(0));
    await expect(choose("error")).rejects.toMatchObject({ code: "EMPTY_SELECTION" });
  });
});
