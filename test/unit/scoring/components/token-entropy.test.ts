import { expect, it } from "vitest";
import { tokenEntropy } from "../../../../src/scoring/components/scorers/token-entropy.js";
import { fakeBatch, run } from "../../../../src/testing.js";
import { batchWithTokensF, entropyF } from "../../../helpers/fixture-f-tokens.js";

it("is the field itself on unmasked tokens", async () => {
  expect(await run(tokenEntropy, batchWithTokensF())).toEqual(entropyF);
  const masked = fakeBatch({ entropy: [[0.1, 0.9, Number.NaN]], response_mask: [[1, 1, 0]] }, { encode: "dense" });
  expect(await run(tokenEntropy, masked)).toEqual([[0.1, 0.9]]);
});

it("refuses a NaN that counts, naming where it stands", async () => {
  const batch = fakeBatch({ entropy: [[0.1], [Number.NaN]] });
  await expect(run(tokenEntropy, batch)).rejects.toMatchObject({ code: "NON_FINITE", details: { row: 1, column: 0 } });
});
