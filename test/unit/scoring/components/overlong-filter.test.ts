import { expect, it } from "vitest";
import { overlongFilter } from "../../../../src/scoring/components/reweighters/overlong-filter.js";
import { truncated } from "../../../../src/scoring/components/scorers/truncated.js";
import { run } from "../../../../src/testing.js";
import { actOnRows, rowWeights } from "../../../helpers/act.js";
import { batchF } from "../../../helpers/batch-f.js";
import { expectClose } from "../../../helpers/close.js";

it("takes the weight of what was cut off, and gives it to the rest", async () => {
  expectClose(await rowWeights(overlongFilter, [0, 1, 0, 0]), [4 / 3, 0, 4 / 3, 4 / 3]);
  const { weights } = await run([truncated, overlongFilter], batchF(), [{ max_response_length: 4 }]);
  expectClose(weights.values, [0, 1.6, 1.6, 0, 1.6, 1.6, 0, 1.6]);
});

it("does not stop the step where everything was cut off, and says so", async () => {
  const outcome = await actOnRows(overlongFilter, [1, 1]);
  expect([...outcome.weights.values]).toEqual([1, 1]);
  expect(outcome.flags).toContain("degenerate");
  expect(await rowWeights(overlongFilter, [1, 1], { normalize: "none" })).toEqual([0, 0]);
});
