import { expect, it } from "vitest";
import { difficultyBand } from "../../../../src/scoring/components/reweighters/difficulty-band.js";
import { fakeBatch, run } from "../../../../src/testing.js";
import { expectClose } from "../../../helpers/close.js";

const weigh = async (scores: number[], params = {}, settings = {}) => {
  const batch = fakeBatch({ advantages: scores.map(() => [0]) });
  return (await run(difficultyBand, batch, params, { scores, settings })).weights.values;
};

it.each([
  { scores: [0, 0.5, 0.5, 1], weights: [0.666667, 1.333333, 1.333333, 0.666667] },
  { scores: [0, 0.2, 0.4, 0.6, 0.8], weights: [0.625, 1.25, 1.25, 1.25, 0.625] },
  { scores: [1, 1, 1, 1, 0], weights: [1.111111, 1.111111, 1.111111, 1.111111, 0.555556] },
  { scores: [1, 1, 0, 0], weights: [1, 1, 1, 1] },
  { scores: [0, 0, 1, 1, 1], weights: [1, 1, 1, 1, 1] },
])("weighs $scores as $weights", async ({ scores, weights }) => {
  expectClose(await weigh(scores), weights);
});

it("gives one row weight 1, without a normaliser too", async () => {
  expectClose(await weigh([0.3], {}, { normalize: "none" }), [1]);
});

it("takes its band and weight from the parameters", async () => {
  expectClose(
    await weigh([1, 2, 3, 4], { low_q: 0, high_q: 0.25, focus_weight: 5 }, { normalize: "none" }),
    [5, 1, 1, 1],
  );
  expect(difficultyBand.params.safeParse({ focus_weight: 0 }).success).toBe(false);
});
