import { expect, it } from "vitest";
import { odsw } from "../../../../src/scoring/components/reweighters/odsw.js";
import { actOnRows, rowWeights } from "../../../helpers/act.js";
import { expectClose } from "../../../helpers/close.js";

const rates = [0, 0.25, 0.5, 0.75, 1];
const weights = (params: Record<string, unknown>) => rowWeights(odsw, rates, { params, normalize: "none" });

it.each([
  { curriculum: "easy", want: [0, Math.SQRT1_2, 1, 1, 1] },
  { curriculum: "medium", want: [0, Math.SQRT1_2, 1, Math.SQRT1_2, 0] },
  { curriculum: "hard", want: [0.25, 1, 1, Math.SQRT1_2, 0] },
])("$curriculum weighs rates softly", async ({ curriculum, want }) => {
  expectClose(await weights({ curriculum }), want);
});

it.each([
  { curriculum: "easy", want: [0, 0, 1, 1, 1] },
  { curriculum: "medium", want: [0, 1, 1, 1, 0] },
  { curriculum: "hard", want: [0, 1, 1, 0, 0] },
])("$curriculum takes a band when binary", async ({ curriculum, want }) => {
  expect(await weights({ curriculum, shape: "binary" })).toEqual(want);
});

it("is exactly 0 at both ends, and has a coefficient for prompts nobody solved", async () => {
  expect((await weights({})).filter((weight) => weight === 0)).toHaveLength(2);
  expect((await weights({ curriculum: "hard", all_false_coef: 1 }))[0]).toBe(1);
});

it("weighs nothing where nothing has the difficulty", async () => {
  const outcome = await actOnRows(odsw, [0, 1]);
  expect([...outcome.weights.values]).toEqual([0, 0]);
  expect(outcome.flags).toEqual(["all_zero"]);
});
