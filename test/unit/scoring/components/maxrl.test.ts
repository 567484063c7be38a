import { expect, it } from "vitest";
import { maxrl } from "../../../../src/scoring/components/reweighters/maxrl.js";
import { rewardDifficulty } from "../../../../src/scoring/components/scorers/reward-difficulty.js";
import { run } from "../../../../src/testing.js";
import { rowWeights } from "../../../helpers/act.js";
import { batchF } from "../../../helpers/batch-f.js";
import { expectClose } from "../../../helpers/close.js";
import { fixtureF } from "../../../helpers/fixture-f.js";

it("turns fixture F's group advantages into maximum-likelihood ones", async () => {
  const { weights } = await run([rewardDifficulty, maxrl], batchF(), [], { settings: { normalize: "none" } });
  const advantages = [...weights.values].map((weight, i) => weight * fixtureF.advantages[i]!);
  expectClose(advantages, [1, -1, 1, -1, 1 / 3, 1 / 3, 1 / 3, -1], 1e-6);
});

it("weighs by deviation over mean, or by the mean alone", async () => {
  expectClose(await rowWeights(maxrl, [1, 0, 0, 0], { normalize: "none" }), Array(4).fill(2.000004), 1e-7);
  const params = { normalized: false };
  expectClose(await rowWeights(maxrl, [1, 0, 0, 0], { normalize: "none", params }), [4, 4, 4, 4]);
});

it("gives no weight to a group that earned nothing, or less, nor to a group of one", async () => {
  const fields = { uid: ["a", "a", "b", "b", "c"] };
  const weights = await rowWeights(maxrl, [0, 0, -3, 1, 1], { fields, normalize: "none" });
  expect(weights).toEqual([0, 0, 0, 0, 0]);
});

it("is exact without being told not to normalise", () => {
  expect(maxrl.self_normalized).toBe(true);
});
