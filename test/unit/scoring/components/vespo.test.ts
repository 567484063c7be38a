import { expect, it } from "vitest";
import { vespo } from "../../../../src/scoring/components/reweighters/vespo.js";
import { seqIsRatio } from "../../../../src/scoring/components/scorers/seq-is-ratio.js";
import { run } from "../../../../src/testing.js";
import { rowWeights } from "../../../helpers/act.js";
import { expectClose } from "../../../helpers/close.js";
import { batchWithTokensF } from "../../../helpers/fixture-f-tokens.js";

const weigh = (scores: number[], advantages: number[], params = {}) =>
  rowWeights(vespo, scores, { params, normalize: "none", fields: { advantages: advantages.map((a) => [a]) } });

it("weighs 1 where the policies agree, and by the advantage's sign elsewhere", async () => {
  // 4 e^-3 and 8 e^-2
  expectClose(await weigh([1, 1, 2, 2, 2], [1, -1, 1, -1, 0]), [1, 1, 0.199148, 1.082682, 0.199148], 1e-6);
});

it("weighs fixture F's rows", async () => {
  const { weights } = await run([seqIsRatio, vespo], batchWithTokensF(), [], { settings: { normalize: "none" } });
  // ratios 1 3 4 .25 1 1 1 1; A is negative in rows 1, 3, 7: 27 e^-4, 16 e^-9, e^1.5 / 64
  expectClose(weights.values, [1, 0.494522, 0.001975, 0.070026, 1, 1, 1, 1], 1e-5);
});

it("holds the ratio within bounds, and takes other shapes", async () => {
  // below 1e-8: e^3 (1e-8)^2
  expectClose(await weigh([1e-9, 1e-8], [1, 1]), [2.00855e-15, 2.00855e-15], 1e-18);
  expect(await weigh([4e8, 1], [1, 1])).toEqual([0, 1]);
  expectClose(await weigh([3], [1], { k_pos: 0, lambda_pos: 1 }), [Math.exp(-2)], 1e-7);
});
