import { expect, it } from "vitest";
import { geoIsRatio } from "../../../../src/scoring/components/scorers/geo-is-ratio.js";
import { segmentIsRatio } from "../../../../src/scoring/components/scorers/segment-is-ratio.js";
import { type FakeOptions, fakeBatch, run } from "../../../../src/testing.js";
import { expectClose } from "../../../helpers/close.js";
import { batchWithTokensF } from "../../../helpers/fixture-f-tokens.js";

const ratios = async (rows: number[][], response_mask: number[][], options: FakeOptions = {}) => {
  const rollout_log_probs = rows.map((row) => row.map((ratio) => -Math.log(ratio)));
  const old_log_probs = rows.map((row) => row.map(() => 0));
  return (await run(
    segmentIsRatio,
    fakeBatch({ response_mask, old_log_probs, rollout_log_probs }, options),
  )) as number[][];
};

it.each(["jagged", "dense", "compact"] as const)("takes each turn by itself (%s)", async (encode) => {
  const rows = [
    [2, 0.5, 7, 3, 9, 4, 1],
    [7, 8, 2],
  ];
  const mask = [
    [1, 1, 0, 1, 0, 1, 1],
    [0, 1, 1],
  ];
  const have = await ratios(rows, mask, { encode });
  expectClose(have[0]!, [1, 1, 3, 2, 2], 1e-12);
  expectClose(have[1]!, [4, 4], 1e-12);
});

it("is the whole response's geometric mean where there is one turn", async () => {
  const turns = (await run(segmentIsRatio, batchWithTokensF())) as number[][];
  const whole = (await run(geoIsRatio, batchWithTokensF())) as number[];
  turns.forEach((row, i) => {
    expectClose(
      row,
      row.map(() => whole[i]!),
      1e-12,
    );
  });
});

it("holds a turn's mean within 20, and does not hide a log-prob that is no number", async () => {
  expectClose((await ratios([[1e-300, 1e-300]], [[1, 1]]))[0]!, [Math.exp(-20), Math.exp(-20)], 1e-12);
  await expect(ratios([[0, 1]], [[1, 1]])).rejects.toMatchObject({ code: "NON_FINITE" });
});
