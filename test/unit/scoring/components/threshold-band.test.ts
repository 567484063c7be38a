import { expect, it } from "vitest";
import { groupSolveRate } from "../../../../src/scoring/components/scorers/group-solve-rate.js";
import { thresholdBand } from "../../../../src/scoring/components/selectors/threshold-band.js";
import { fakeBatch, run } from "../../../../src/testing.js";
import { batchF } from "../../../helpers/batch-f.js";

const keep = async (scores: number[], params = {}) => {
  const batch = fakeBatch({ advantages: scores.map(() => [0]) });
  return [...((await run(thresholdBand, batch, params, { scores })).kept ?? [])];
};
const rates = [0, 0.2, 0.4, 0.6, 0.8, 1];

it("keeps fixture F's rows", async () => {
  expect([...(await run([groupSolveRate, thresholdBand], batchF())).kept!]).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  const upper = await run([groupSolveRate, thresholdBand], batchF(), [{}, { low: 0.6, high: 0.8 }]);
  expect([...upper.kept!]).toEqual([4, 5, 6, 7]);
  expect([...upper.weights.values]).toEqual([0, 0, 0, 0, 1, 1, 1, 1]);
});

it.each([
  { closed: "none", kept: [2, 3] },
  { closed: "both", kept: [1, 2, 3, 4] },
  { closed: "low", kept: [1, 2, 3] },
  { closed: "high", kept: [2, 3, 4] },
])("with closed: $closed keeps rows $kept of the rates 0 … 1", async ({ closed, kept }) => {
  expect(await keep(rates, { low: 0.2, high: 0.8, closed })).toEqual(kept);
});

it("keeps a rate of 1/5 outside a strict band from 0.2, since both sides are float32", async () => {
  expect(await keep([1 / 5, 0.2 + 1e-12, 0.2 + 1e-7], { low: 0.2 })).toEqual([2]);
});
