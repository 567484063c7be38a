import { it } from "vitest";
import { difficultyWeight } from "../../../../src/scoring/components/reweighters/difficulty-weight.js";
import { groupSolveRate } from "../../../../src/scoring/components/scorers/group-solve-rate.js";
import { run } from "../../../../src/testing.js";
import { rowWeights } from "../../../helpers/act.js";
import { batchF } from "../../../helpers/batch-f.js";
import { expectClose } from "../../../helpers/close.js";

it("grows from 0.5 to 2, and holds what lies outside", async () => {
  expectClose(await rowWeights(difficultyWeight, [0, 0.5, 1, 3, -1], { normalize: "none" }), [0.5, 1.25, 2, 2, 0.5]);
});

it("takes a solve rate the other way round", async () => {
  const { weights } = await run([groupSolveRate, difficultyWeight], batchF(), [{}, { easy: true }]);
  // 1.25 and 0.875, mean 1.0625
  expectClose(
    weights.values,
    [1.25, 1.25, 1.25, 1.25, 0.875, 0.875, 0.875, 0.875].map((w) => w / 1.0625),
  );
});
