import { expect, it } from "vitest";
import { rewardDifficulty } from "../../../../src/scoring/components/scorers/reward-difficulty.js";
import { difficultyFilter } from "../../../../src/scoring/components/selectors/difficulty-filter.js";
import { run } from "../../../../src/testing.js";
import { keptRows } from "../../../helpers/act.js";
import { batchF } from "../../../helpers/batch-f.js";

it("keeps rates in the band, both ends in", async () => {
  const scores = [0, 0.2, 0.4, 0.6, 0.8, 1];
  expect(await keptRows(difficultyFilter, scores, { fields: { uid: [...scores].map(String) } })).toEqual([1, 2, 3, 4]);
  // Four fifths in float32 are more than 0.8 in float64: both sides are rounded.
  const rates = [Math.fround(1 / 5), Math.fround(4 / 5)];
  expect(await keptRows(difficultyFilter, rates, { fields: { uid: ["a", "b"] } })).toEqual([0, 1]);
});

it("keeps whole groups by their mean reward", async () => {
  const outcome = await run([rewardDifficulty, difficultyFilter], batchF(), [{}, { low: 0.6, high: 0.8 }]);
  expect([...outcome.kept!]).toEqual([4, 5, 6, 7]);
});

it("keeps nothing where nothing fits", async () => {
  expect(await keptRows(difficultyFilter, [1, 1])).toEqual([]);
});
