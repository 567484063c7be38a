import { expect, it } from "vitest";
import { awr } from "../../../../src/scoring/components/reweighters/awr.js";
import { signedAdvantage } from "../../../../src/scoring/components/scorers/signed-advantage.js";
import { run } from "../../../../src/testing.js";
import { rowWeights } from "../../../helpers/act.js";
import { batchF } from "../../../helpers/batch-f.js";
import { expectClose } from "../../../helpers/close.js";

const raw = { normalize: "none" } as const;
const x = [1, -1, 0.8, 0];

it("is exp(A) on fixture F when not standardised", async () => {
  const params = [{}, { standardize: false }] as const;
  const a = await run([signedAdvantage, awr], batchF(), params, { settings: raw });
  expectClose(a.weights.values, [2.377439, 0.420621, 2.377439, 0.420621, 1.64872, 1.64872, 1.64872, 0.223131]);
  const b = await run([signedAdvantage, awr], batchF(), params);
  expectClose(b.weights.values, [1.766725, 0.312572, 1.766725, 0.312572, 1.225198, 1.225198, 1.225198, 0.165813]);
});

it("stops at the clip, however large the advantage", async () => {
  const params = { beta: 0.25, standardize: false };
  expectClose(await rowWeights(awr, x, { params, ...raw }), [20, 0.018316, 20, 1]);
  expectClose(await rowWeights(awr, [1e6, 0], { params, ...raw }), [20, 1]);
});

it("standardises by the population deviation", async () => {
  expectClose(await rowWeights(awr, x, raw), [2.762091, 0.217843, 2.142538, 0.775694]);
});

it("is uniform where scores are equal, alone or not, and leaves padding out of the mean", async () => {
  expect(await rowWeights(awr, [3, 3, 3], raw)).toEqual([1, 1, 1]);
  expect(await rowWeights(awr, [3], raw)).toEqual([1]);
  expectClose(
    await rowWeights(awr, [...x, 1000], { ...raw, is_padding: [false, false, false, false, true] }),
    [2.762091, 0.217843, 2.142538, 0.775694, 0],
  );
});

it("keeps the proportions of exponentials that all lie below the smallest float", async () => {
  const params = { beta: 0.05, standardize: false };
  const rewards = [-50, -50 + 0.05 * Math.log(3)];
  expectClose(await rowWeights(awr, rewards, { params }), [0.5, 1.5]);
  expect(await rowWeights(awr, rewards, { params, ...raw })).toEqual([0, 0]);
});
