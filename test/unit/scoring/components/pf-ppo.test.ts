import { expect, it } from "vitest";
import { pfPpo } from "../../../../src/scoring/components/reweighters/pf-ppo.js";
import { rowWeights } from "../../../helpers/act.js";
import { expectClose } from "../../../helpers/close.js";
import { fixtureF } from "../../../helpers/fixture-f.js";

it("pow weighs by a power of the reward's size", async () => {
  expectClose(await rowWeights(pfPpo, [0.2, -0.5, 1, 0.3]), [0.115942, 0.724638, 2.898551, 0.26087]);
  expect(await rowWeights(pfPpo, [0, 0, 0])).toEqual([1, 1, 1]);
});

it("max_min keeps best and worst, of the batch or of each group", async () => {
  const uid = ["a", "a", "a", "b", "b"];
  const scores = [0.1, 0.5, 0.9, 0.2, 0.3];
  const options = { fields: { uid }, normalize: "none" } as const;
  expectClose(await rowWeights(pfPpo, scores, { ...options, params: { method: "max_min" } }), [1, 0, 1, 0, 0], 1e-7);
  const params = { method: "max_min", scope: "group" };
  expectClose(await rowWeights(pfPpo, scores, { ...options, params }), [1, 0, 1, 1, 1], 1e-7);
});

it("max_random gives fixture F's best 0.4 and the others 0.1", async () => {
  const options = { fields: { uid: fixtureF.uid }, params: { method: "max_random", scope: "group" } };
  const raw = await rowWeights(pfPpo, fixtureF.rewards, { ...options, normalize: "none" });
  expectClose(
    raw,
    fixtureF.rewards.map((reward) => (reward === 1 ? 0.4 : 0.1)),
  );
  const [best, other] = [1.391304, 0.347826];
  expectClose(await rowWeights(pfPpo, fixtureF.rewards, options), [best, other, best, other, best, best, best, other]);
});

it("gives everyone who ties for the best, as float32, the best's weight", async () => {
  const params = { method: "max_random" };
  expectClose(await rowWeights(pfPpo, [0.1, 0.1 + 1e-12, 0], { params, normalize: "none" }), [0.4, 0.4, 0.1]);
});
