import { expect, it } from "vitest";
import { multProbError } from "../../../../src/scoring/components/scorers/mult-prob-error.js";
import { thresholdBand } from "../../../../src/scoring/components/selectors/threshold-band.js";
import { run } from "../../../../src/testing.js";
import { expectClose } from "../../../helpers/close.js";
import { batchWithTokensF } from "../../../helpers/fixture-f-tokens.js";

it("averages the factor between the two probabilities on fixture F", async () => {
  const want = [1.5, 5 / 3, 2.5, 1.75, 1, 5 / 3, 1, 2.5];
  expectClose((await run(multProbError, batchWithTokensF())) as number[], want, 1e-12);
});

it("keeps rows up to NeMo-RL's threshold with a closed band", async () => {
  const params = { low: 0, high: 1.75, closed: "both" };
  const { kept } = await run([multProbError, thresholdBand], batchWithTokensF(), [{}, params]);
  expect([...kept!]).toEqual([0, 1, 3, 4, 5, 6]);
});
