import { it } from "vitest";
import { isRatio } from "../../../../src/scoring/components/scorers/is-ratio.js";
import { fakeBatch, run } from "../../../../src/testing.js";
import { expectClose } from "../../../helpers/close.js";
import { batchWithTokensF, ratioF } from "../../../helpers/fixture-f-tokens.js";

it("gives fixture F's ratios", async () => {
  expectClose(((await run(isRatio, batchWithTokensF())) as number[][]).flat(), ratioF.flat(), 1e-12);
});

it("holds the log ratio within 20 and never reads masked tokens", async () => {
  const old_log_probs = [[-1, -100, 200, Number.NEGATIVE_INFINITY]];
  const rollout_log_probs = [[-100, -1, 0, 0]];
  const batch = fakeBatch({ old_log_probs, rollout_log_probs, response_mask: [[1, 1, 0, 0]] }, { encode: "dense" });
  const [[high, low]] = (await run(isRatio, batch)) as [[number, number]];
  expectClose([high, low], [Math.exp(20), Math.exp(-20)], 1e-12);
});
