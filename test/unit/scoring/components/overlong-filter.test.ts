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

it.each(["none", "row", "token"] as const)(
  "weighs nothing where everything was cut off, and says so (normalize: %s)",
  async (normalize) => {
    const outcome = await actOnRows(overlongFilter, [1, 1], { normalize });
    expect([...outcome.weights.values]).toEqual([0, 0]);
    expect(outcome.flags).toEqual(["all_zero"]);
  },
);
