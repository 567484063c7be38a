import { describe, expect, test } from "vitest";
import { adarft, nextTarget } from "../../../../../src/scoring/components/policies/adarft.js";
import { runPolicy } from "../../../../../src/testing.js";

const DEFAULTS = { eta: 50, alpha: 2, beta: 0.5, d_min: 0, d_max: 100 };
const step = (...rewards: number[]) => ({
  dataset_key: rewards.map((_, i) => `p${i}`),
  response_mask: rewards.map(() => [1]),
  rm_scores: rewards.map((reward) => [reward]),
});
const candidates = (...difficulty: number[]) => ({ dataset_key: difficulty.map((d) => `d${d}`), difficulty });

test.each([
  [0.5, 20],
  [0.75, 43.105858],
  [0.1, 0],
])("target 20 after a mean reward of %d", (mean, target) => {
  expect(nextTarget(20, mean, DEFAULTS)).toBeCloseTo(target, 6);
});

describe("adarft", () => {
  test("keeps the batch_size prompts nearest to the target", async () => {
    const choice = await runPolicy(adarft, [step(0.75, 0.75)], candidates(0, 20, 25, 90), { batch_size: 2, start: 20 });
    expect(choice.metrics.target_difficulty).toBeCloseTo(43.105858, 5);
    expect([...choice.kept]).toEqual([1, 2]);
  });

  test("before any step the target is start; equal distances: the earlier candidate", async () => {
    const choice = await runPolicy(adarft, [], candidates(60, 40, 55), { batch_size: 2, start: 50 });
    expect([...choice.kept]).toEqual([0, 2]);
  });

  test("each step moves it once, by its mean over rows", async () => {
    const fed = [step(1, 0.5), step(0.75)];
    const choice = await runPolicy(adarft, fed, candidates(1), { batch_size: 1, start: 0 });
    const once = nextTarget(0, 0.75, DEFAULTS);
    expect(choice.metrics.target_difficulty).toBeCloseTo(nextTarget(once, 0.75, DEFAULTS), 6);
  });

  test("fewer candidates than batch_size: all; a difficulty that is no number is refused", async () => {
    expect((await runPolicy(adarft, [], candidates(1, 2), { batch_size: 9 })).kept).toHaveLength(2);
    await expect(runPolicy(adarft, [], candidates(1, Number.NaN), { batch_size: 1 })).rejects.toMatchObject({
      code: "NON_FINITE",
    });
  });
});
