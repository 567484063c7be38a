import { expect, it } from "vitest";
import { grpoLead } from "../../../../src/scoring/components/reweighters/grpo-lead.js";
import { groupSolveRate } from "../../../../src/scoring/components/scorers/group-solve-rate.js";
import { run } from "../../../../src/testing.js";
import { rowWeights } from "../../../helpers/act.js";
import { batchF } from "../../../helpers/batch-f.js";
import { expectClose } from "../../../helpers/close.js";

const rates = [0, 0.25, 0.5, 0.75, 1];
const curve = [1.499392, 1.492638, 1.416556, 0.95, 0.483444];

it("falls with the solve rate for right answers, and rises for wrong ones", async () => {
  const right = { fields: { advantages: rates.map(() => [0.5]) }, normalize: "none" } as const;
  expectClose(await rowWeights(grpoLead, rates, right), curve);
  const wrong = { fields: { advantages: rates.map(() => [-0.5]) }, normalize: "none" } as const;
  expectClose(await rowWeights(grpoLead, rates, wrong), [...curve].reverse());
});

it("weighs fixture F", async () => {
  const { weights } = await run([groupSolveRate, grpoLead], batchF(), [], { settings: { normalize: "none" } });
  expectClose(weights.values, [1.416556, 1.416556, 1.416556, 1.416556, 0.95, 0.95, 0.95, 1.492638]);
});

it("takes an advantage of 0 as not positive, and any steepness", async () => {
  const zero = { fields: { advantages: [[0]] }, normalize: "none" } as const;
  expectClose(await rowWeights(grpoLead, [0.25], zero), [0.95]);
  const steep = { fields: { advantages: [[1], [1]] }, params: { k: 1e5 }, normalize: "none" } as const;
  expectClose(await rowWeights(grpoLead, [0, 1], steep), [1.5, 0.4]);
});

it("is due after the advantages, whatever its scorer", () => {
  expect(grpoLead.timing).toBe("post_advantage");
});

it("keeps the proportions of a curve that is steep and ends at 0", async () => {
  const easy = { fields: { advantages: [[1], [1]] }, params: { a: 0, k: 1e4 } };
  expectClose(await rowWeights(grpoLead, [1, 1 - 1e-4 * Math.log(3)], easy), [0.5, 1.5]);
  expect(await rowWeights(grpoLead, [0, 1], { ...easy, params: { a: 0, b: 0 } })).toEqual([0, 0]);
});
