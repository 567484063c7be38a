import { expect, it } from "vitest";
import {
  ESTIMATORS,
  estimatorsWithGroups,
  findEstimator,
  normalizeEstimator,
} from "../../../../src/mounting/catalogue/estimators.js";

it("lists verl's fourteen, three of them without groups", () => {
  expect(ESTIMATORS).toHaveLength(14);
  expect(new Set(ESTIMATORS.map((e) => e.name)).size).toBe(14);
  expect(ESTIMATORS.filter((e) => !e.groups).map((e) => e.name)).toEqual(["gae", "reinforce_plus_plus", "remax"]);
  expect(estimatorsWithGroups()).toHaveLength(11);
});

it.each([
  ["grpo", "grpo"],
  ["AdvantageEstimator.GRPO", "grpo"],
  [" GAE ", "gae"],
  ["AdvantageEstimator.REINFORCE_PLUS_PLUS_BASELINE", "reinforce_plus_plus_baseline"],
])("%j is %s", (text, name) => {
  expect(normalizeEstimator(text)).toBe(name);
  expect(findEstimator(text)?.name).toBe(name);
});

it("knows what it does not know", () => {
  expect(findEstimator("my_own")).toBeUndefined();
  expect(findEstimator("")).toBeUndefined();
});
