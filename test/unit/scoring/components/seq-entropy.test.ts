import { it } from "vitest";
import { seqEntropy } from "../../../../src/scoring/components/scorers/seq-entropy.js";
import { fakeBatch, run } from "../../../../src/testing.js";
import { expectClose } from "../../../helpers/close.js";
import { batchWithTokensF } from "../../../helpers/fixture-f-tokens.js";

it("is the mean entropy of each row of fixture F", async () => {
  const want = [0.9, 3.2 / 3, 0.7, 0.625, 1.1, 2.2 / 3, 0.8, 1.4];
  expectClose((await run(seqEntropy, batchWithTokensF())) as number[], want, 1e-12);
});

it("leaves masked tokens out; a fully masked row is 0", async () => {
  const entropy = [
    [0.1, 0.9, 7],
    [7, 7, 7],
  ];
  const response_mask = [
    [1, 1, 0],
    [0, 0, 0],
  ];
  expectClose((await run(seqEntropy, fakeBatch({ entropy, response_mask }))) as number[], [0.5, 0], 1e-12);
});
