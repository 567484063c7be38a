import { it } from "vitest";
import { geoIsRatio } from "../../../../src/scoring/components/scorers/geo-is-ratio.js";
import { fakeBatch, run } from "../../../../src/testing.js";
import { expectClose } from "../../../helpers/close.js";
import { batchWithTokensF } from "../../../helpers/fixture-f-tokens.js";

it("is the geometric mean of fixture F's ratios", async () => {
  expectClose((await run(geoIsRatio, batchWithTokensF())) as number[], [1, 3 ** (1 / 3), 2, Math.SQRT1_2, 1, 1, 1, 1]);
});

it("holds the mean within 20; a fully masked row is 1 before it is left out", async () => {
  const batch = fakeBatch({ old_log_probs: [[0, 0]], rollout_log_probs: [[-80, -40]] });
  expectClose((await run(geoIsRatio, batch)) as number[], [Math.exp(20)], 1e-12);
});
