import { expect, it } from "vitest";
import { rewardDifficulty } from "../../../../src/scoring/components/scorers/reward-difficulty.js";
import { maxVariance } from "../../../../src/scoring/components/selectors/max-variance.js";
import { fakeBatch, run } from "../../../../src/testing.js";
import { batchF } from "../../../helpers/batch-f.js";

it.each([
  { scores: [0.1, 0.9, 0.5, 0.4, 0.6], kept: [0, 1] },
  { scores: [0.1, 0.9, 0.5, 0.4, 0.6, 0.95], kept: [0, 1, 5] },
  { scores: [1, 1, 1, 0, 0], kept: [2, 3] },
  { scores: [1, 1, 0, 0], kept: [1, 2] },
  { scores: [1, 1, 1, 1], kept: [2, 3] },
  { scores: [3, 1, 2, 5, 4, 0, 7, 6], kept: [1, 5, 6, 7] },
])("keeps $kept of $scores", async ({ scores, kept }) => {
  const batch = fakeBatch({ uid: scores.map(() => "a") });
  expect([...(await run(maxVariance, batch, {}, { scores })).kept!]).toEqual(kept);
});

it("works group by group on fixture F", async () => {
  expect([...(await run([rewardDifficulty, maxVariance], batchF())).kept!]).toEqual([1, 2, 6, 7]);
});

it("does not lose the spread of scores far from 0", async () => {
  const scores = [0.1, 0.9, 0.5, 0.4, 0.6].map((score) => score + 1e6);
  const batch = fakeBatch({ uid: scores.map(() => "a") });
  expect([...(await run(maxVariance, batch, {}, { scores })).kept!]).toEqual([0, 1]);
});
