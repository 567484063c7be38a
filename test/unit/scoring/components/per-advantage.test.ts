import { it } from "vitest";
import { perAdvantage } from "../../../../src/scoring/components/reweighters/per-advantage.js";
import { advantageMagnitude } from "../../../../src/scoring/components/scorers/advantage-magnitude.js";
import { fakeBatch, run } from "../../../../src/testing.js";
import { batchF } from "../../../helpers/batch-f.js";
import { expectClose } from "../../../helpers/close.js";

const weigh = async (scores: number[], params = {}) => {
  const batch = fakeBatch({ advantages: scores.map(() => [0]) });
  return (await run(perAdvantage, batch, params, { scores })).weights.values;
};

it("raises the score's size to a power", async () => {
  expectClose(await weigh([0, 1, 4, 9]), [6.667e-5, 0.66665556, 1.33331111, 1.99996667]);
  expectClose(await weigh([-4, 4]), [1, 1]);
});

it("gives fixture F's weights", async () => {
  const outcome = await run([advantageMagnitude, perAdvantage], batchF());
  expectClose(outcome.weights.values, [1.053244, 1.053244, 1.053244, 1.053244, 0.800292, 0.800292, 0.800292, 1.386147]);
});

it("is 1 for all when every score is 0, however large the exponent: tiny sums are legitimate", async () => {
  expectClose(await weigh([0, 0, 0, 0]), [1, 1, 1, 1]);
  expectClose(await weigh([0, 0, 0, 0], { alpha: 2 }), [1, 1, 1, 1]);
});

it("keeps the proportions of powers that lie below the smallest float together, or beyond the largest", async () => {
  expectClose(await weigh([0, 0, 1e-8], { alpha: 50 }), [0, 0, 3]);
  expectClose(await weigh([1e-3, 1e-3 * 2 ** 0.0025], { alpha: 400 }), [2 / 3, 4 / 3], 1e-4);
  expectClose(await weigh([1e3, 1e3 * 2 ** 0.0025], { alpha: 400 }), [2 / 3, 4 / 3], 1e-4);
});
