import { expect, it } from "vitest";
import { psrNsr } from "../../../../src/scoring/components/reweighters/psr-nsr.js";
import { rowWeights } from "../../../helpers/act.js";
import { expectClose } from "../../../helpers/close.js";
import { fixtureF } from "../../../helpers/fixture-f.js";

const { rewards } = fixtureF;

it("weighs fixture F's right answers a tenth of the wrong ones", async () => {
  expectClose(
    await rowWeights(psrNsr, rewards),
    rewards.map((reward) => (reward === 1 ? 0.228571 : 2.285714)),
  );
});

it("keeps one side only when asked", async () => {
  const positive = { params: { keep: "positive" }, normalize: "none" } as const;
  expect(await rowWeights(psrNsr, rewards, positive)).toEqual(rewards);
  const negative = { params: { keep: "negative" }, normalize: "none" } as const;
  expect(await rowWeights(psrNsr, rewards, negative)).toEqual(rewards.map((reward) => 1 - reward));
});

it("compares strictly and as float32", async () => {
  const params = { success_threshold: 0.2, lambda: 0 };
  expect(await rowWeights(psrNsr, [1 / 5, Math.fround(0.2), 0.21], { params, normalize: "none" })).toEqual([1, 1, 0]);
});

it("weighs nothing where nothing is on the side that is kept", async () => {
  expect(await rowWeights(psrNsr, [0, 0], { params: { keep: "positive" } })).toEqual([0, 0]);
  expect(await rowWeights(psrNsr, [1, 1], { params: { keep: "negative" } })).toEqual([0, 0]);
});
