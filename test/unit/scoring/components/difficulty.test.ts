import { expect, it } from "vitest";
import { difficultyWeight } from "../../../../src/scoring/components/reweighters/difficulty-weight.js";
import { difficulty } from "../../../../src/scoring/components/scorers/difficulty.js";
import { fakeBatch, run } from "../../../../src/testing.js";
import { expectClose } from "../../../helpers/close.js";

const batch = fakeBatch({ response_mask: [[1], [1], [1]], difficulty: [0.2, 0.9, 7] });

it("is the column", async () => {
  expect(await run(difficulty, batch)).toEqual([0.2, 0.9, 7]);
});

it("weighs as ROLL does", async () => {
  const { weights } = await run([difficulty, difficultyWeight], batch);
  const raw = [0.8, 1.85, 2];
  expectClose(
    weights.values,
    raw.map((weight) => (3 * weight) / 4.65),
  );
});

it("refuses a difficulty that is no number", async () => {
  const bad = fakeBatch({ response_mask: [[1], [1]], difficulty: [1, Number.NaN] });
  await expect(run(difficulty, bad)).rejects.toMatchObject({ code: "NON_FINITE" });
});
