import { expect, it } from "vitest";
import { tokenProb } from "../../../../src/scoring/components/scorers/token-prob.js";
import { fakeBatch, run } from "../../../../src/testing.js";
import { batchF } from "../../../helpers/batch-f.js";
import { expectClose } from "../../../helpers/close.js";
import { fixtureF } from "../../../helpers/fixture-f.js";

it.each(["jagged", "dense", "compact"] as const)(
  "gives back the probabilities of fixture F, encoded %s",
  async (encode) => {
    const scores = (await run(tokenProb, batchF({ encode }))) as number[][];
    scores.forEach((row, i) => {
      expectClose(row, fixtureF.probabilities[i]!, 1e-12);
    });
  },
);

it("has scores for unmasked tokens only", async () => {
  const batch = fakeBatch({ old_log_probs: [[0, Math.log(0.5), -7]], response_mask: [[1, 1, 0]] });
  expect(await run(tokenProb, batch)).toEqual([[1, 0.5]]);
});

it("names row and column of a log-probability that is not a number", async () => {
  const batch = fakeBatch(
    {
      old_log_probs: [
        [-1, -1],
        [-1, Number.NaN],
      ],
    },
    { encode: "dense" },
  );
  await expect(run(tokenProb, batch)).rejects.toMatchObject({
    code: "NON_FINITE",
    message: expect.stringMatching(/old_log_probs.*row 1, column 1/),
    details: { row: 1, column: 1 },
  });
});
