import { expect, it } from "vitest";
import { overlongFilter } from "../../../../src/scoring/components/reweighters/overlong-filter.js";
import { seqIsRatio } from "../../../../src/scoring/components/scorers/seq-is-ratio.js";
import { fakeBatch, run } from "../../../../src/testing.js";
import { expectClose } from "../../../helpers/close.js";
import { batchWithTokensF } from "../../../helpers/fixture-f-tokens.js";

it("multiplies fixture F's ratios", async () => {
  expectClose((await run(seqIsRatio, batchWithTokensF())) as number[], [1, 3, 4, 0.25, 1, 1, 1, 1], 1e-12);
});

it("holds the sum over long rows within 20, and reports how far beyond it was", async () => {
  const tokens = 8192;
  const row = (value: number) => new Array<number>(tokens).fill(value);
  const batch = fakeBatch({ old_log_probs: [row(-0.001), row(0.01)], rollout_log_probs: [row(0), row(0)] });
  expectClose((await run(seqIsRatio, batch)) as number[], [Math.exp(-8.192), Math.exp(20)], 1e-9);
  const { metrics, warnings } = await run([seqIsRatio, overlongFilter], batch);
  expect(metrics.rows_ratio_clamped).toBe(1);
  expectClose([metrics.log_ratio_clamped_excess!], [61.92], 1e-9);
  expect(warnings.join()).toContain("rows_ratio_clamped");
});

it("does not count rows that are not live", async () => {
  const batch = fakeBatch(
    { old_log_probs: [[0], [50], [50]], rollout_log_probs: [[0], [0], [0]], response_mask: [[1], [0], [1]] },
    { is_padding: [false, false, true] },
  );
  const { metrics } = await run([seqIsRatio, overlongFilter], batch);
  expect(metrics.rows_ratio_clamped).toBe(0);
});
