import { expect, it } from "vitest";
import { signedAdvantage } from "../../../../src/scoring/components/scorers/signed-advantage.js";
import { fakeBatch, run } from "../../../../src/testing.js";
import { batchF } from "../../../helpers/batch-f.js";
import { expectClose } from "../../../helpers/close.js";
import { fixtureF } from "../../../helpers/fixture-f.js";

it("keeps the sign of fixture F's advantages", async () => {
  expectClose((await run(signedAdvantage, batchF())) as number[], fixtureF.advantages, 1e-12);
});

it("is the mean over unmasked tokens", async () => {
  const batch = fakeBatch({ advantages: [[1, -3, 9]], response_mask: [[1, 1, 0]] });
  expect(await run(signedAdvantage, batch)).toEqual([-1]);
});
