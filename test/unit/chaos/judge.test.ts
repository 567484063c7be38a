import { expect, test } from "vitest";
import { wrongWith } from "../../../chaos/check/judge.js";
import { expectedWeights, rewardGap } from "../../../chaos/check/reference.js";
import type { Content } from "../../../chaos/plan/content.js";
import type { StepPlan } from "../../../chaos/plan/step-plan.js";

const content: Content = {
  width: 2,
  keys: ["a", "b", "c", "d"],
  lengths: [2, 1, 1, 1],
  uid: ["p", "p", "p", "p"],
  domain: ["math", "math", "math", "math"],
  advantages: [Math.log(2), 0, 0, 0],
  rewards: [1, 0, 0, 1],
  logProbs: [
    [0, 0],
    [Math.log(0.5), 0],
    [0, 0],
    [0, 0],
  ],
};
const plan = { content } as StepPlan;
const answerOf = (weigh: number[], keep: number[], combined: number[], keys: string[] | null = null) => ({
  pipelines: { weigh: { weights: weigh, proportions: null }, keep: { weights: keep, proportions: null } },
  combined,
  keys,
});

test("weights by hand", () => {
  expect(expectedWeights.weigh!(content).map((w) => w.toFixed(6))).toEqual([
    "1.600000",
    "0.800000",
    "0.800000",
    "0.800000",
  ]);
  expect(expectedWeights.keep!(content)).toEqual([1, 1, 1, 1]);
  expect(expectedWeights.keep!({ ...content, rewards: [1, 1, 1, 1] })).toEqual([0, 0, 0, 0]);
  // Five live tokens of raw weights 1, 1, .75, 1, 1.
  const mean = 4.75 / 5;
  expect(expectedWeights.tokens!(content).map((w) => (w * mean).toFixed(6))).toEqual(
    [1, 1, 0.75, 0, 1, 0, 1, 0].map((w) => w.toFixed(6)),
  );
});

test("shares by hand: the mean of the last eight steps decides", () => {
  const step = (n: number, math: number) => ({ step: n, sums: [math, 0], counts: [1, 1] });
  const recent = Array.from({ length: 8 }, (_, i) => step(i + 2, 0));
  expect(rewardGap(recent)).toEqual([0.5, 0.5]);
  expect(rewardGap([step(1, 1), ...recent])).toEqual([0.5, 0.5]);
  expect(rewardGap([step(1, 1)])[0]).toBeCloseTo(0.05 + 0.9 / (1 + Math.E), 12);
});

test("a right answer is right; a swapped, missing or infinite value is named", () => {
  const weigh = [1.6, 0.8, 0.8, 0.8];
  expect(wrongWith(plan, answerOf(weigh, [1, 1, 1, 1], weigh), [])).toBeUndefined();
  expect(wrongWith(plan, answerOf([0.8, 1.6, 0.8, 0.8], [1, 1, 1, 1], weigh), [])).toMatch(/weigh: value 0 is 0.8/);
  expect(wrongWith(plan, answerOf(weigh, [1, 1, 1], weigh), [])).toBe("pipeline keep: 3 values instead of 4");
  expect(wrongWith(plan, answerOf(weigh, [1, 1, 1, 1], [1.6, 0.8, Number.NaN, 0.8]), [])).toMatch(
    /combined: value 2 is NaN/,
  );
});

test("weights are those of their keys, in whatever order these are; other keys are wrong", () => {
  const weigh = [0.8, 0.8, 1.6, 0.8];
  const keep = [1, 1, 1, 1];
  expect(wrongWith(plan, answerOf(weigh, keep, weigh, ["b", "d", "a", "c"]), [])).toBeUndefined();
  expect(wrongWith(plan, answerOf(weigh, keep, weigh, ["a", "b", "c", "d"]), [])).toMatch(/weigh: value 0 is 0.8/);
  expect(wrongWith(plan, answerOf(weigh, keep, weigh, ["b", "d", "a", "a"]), [])).toBe("keys: b d a a");
});
