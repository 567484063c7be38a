import { expect, it } from "vitest";
import { advantageReweight } from "../../../../src/scoring/components/reweighters/advantage-reweight.js";
import { tokenProb } from "../../../../src/scoring/components/scorers/token-prob.js";
import { fakeBatch, run } from "../../../../src/testing.js";
import { batchF } from "../../../helpers/batch-f.js";
import { expectClose } from "../../../helpers/close.js";

const weights = [
  [1.252149, 0.988539, 0.790831, 0.922636],
  [1.186246, 0.724928, 1.054441],
  [0.988539, 0.988539],
  [0.823782, 1.153295, 0.988539, 1.318052],
  [0.856734],
  [1.054441, 1.252149, 0.856734],
  [0.790831, 0.922636, 1.186246, 1.054441],
  [1.120344, 0.724928],
];

it.each(["jagged", "dense", "compact"] as const)(
  "gives fixture F's token weights, mean one, encoded %s",
  async (encode) => {
    const outcome = await run([tokenProb, advantageReweight], batchF({ encode }));
    expect(outcome.granularity).toBe("token");
    expectClose(outcome.weights.values, weights.flat());
    expect(outcome.stats?.n).toBe(23);
    expect(outcome.stats?.mean).toBeCloseTo(1, 6);
  },
);

it("is the paper's formula without a normaliser", async () => {
  const batch = fakeBatch({ old_log_probs: [[Math.log(0.9), Math.log(0.1)]] });
  const outcome = await run([tokenProb, advantageReweight], batch, [{}, { alpha: 0.2 }], {
    settings: { normalize: "none" },
  });
  expectClose(outcome.weights.values, [0.98, 0.82]);
});

it("is 1 everywhere for alpha 0, and keeps alpha within [0, 1]", async () => {
  const outcome = await run([tokenProb, advantageReweight], batchF(), [{}, { alpha: 0 }]);
  expect(new Set(outcome.weights.values)).toEqual(new Set([1]));
  expect(advantageReweight.params.safeParse({ alpha: 1.1 }).success).toBe(false);
});
