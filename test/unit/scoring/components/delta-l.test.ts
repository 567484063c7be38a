import { expect, it } from "vitest";
import { deltaL } from "../../../../src/scoring/components/reweighters/delta-l.js";
import { responseLength } from "../../../../src/scoring/components/scorers/response-length.js";
import { run } from "../../../../src/testing.js";
import { rowWeights } from "../../../helpers/act.js";
import { batchF } from "../../../helpers/batch-f.js";
import { expectClose } from "../../../helpers/close.js";

it.each([
  { alpha: 0.75, want: [0.685306, 0.850332, 1.152542, 0.685306, 1.938337, 0.850332, 0.685306, 1.152542] },
  { alpha: 1, want: [0.585366, 0.780488, 1.170732, 0.585366, 2.341463, 0.780488, 0.585366, 1.170732] },
])("weighs fixture F's lengths with alpha $alpha", async ({ alpha, want }) => {
  const params = [{}, { alpha }] as const;
  const { weights } = await run([responseLength, deltaL], batchF(), params, { settings: { normalize: "none" } });
  expectClose(weights.values, want);
});

it("is uniform for alpha 0 and for equal lengths, and refuses a length of 0", async () => {
  expect(await rowWeights(deltaL, [1, 5, 9], { params: { alpha: 0 }, normalize: "none" })).toEqual([1, 1, 1]);
  expect(await rowWeights(deltaL, [7, 7], { normalize: "none" })).toEqual([1, 1]);
  await expect(rowWeights(deltaL, [0, 5])).rejects.toMatchObject({ code: "COMPONENT" });
});
