import { expect, it } from "vitest";
import { perAdvantage } from "../../../../src/scoring/components/reweighters/per-advantage.js";
import { rewardDifficulty } from "../../../../src/scoring/components/scorers/reward-difficulty.js";
import { fakeBatch, run } from "../../../../src/testing.js";
import { batchF } from "../../../helpers/batch-f.js";
import { fixtureF } from "../../../helpers/fixture-f.js";

it.each(["jagged", "dense", "compact"] as const)("is the outcome reward on fixture F, encoded %s", async (encode) => {
  expect(await run(rewardDifficulty, batchF({ encode }))).toEqual(fixtureF.rewards);
});

const toolEnd = {
  rm_scores: [
    [0, 0, 1],
    [0, 1, 0],
    [0, 0, 0],
  ],
  response_mask: [
    [1, 1, 0],
    [1, 1, 0],
    [1, 1, 0],
  ],
};

it("leaves out reward on a tool token, counts the row and names the parameter", async () => {
  const batch = fakeBatch(toolEnd);
  expect(await run(rewardDifficulty, batch)).toEqual([0, 1, 0]);
  const outcome = await run([rewardDifficulty, perAdvantage], batch);
  expect(outcome.metrics.rows_reward_outside_mask).toBe(1);
  expect(outcome.warnings).toEqual([expect.stringContaining("mask_reward")]);
});

it("counts every response token with mask_reward: false, and does not warn", async () => {
  const batch = fakeBatch(toolEnd);
  expect(await run(rewardDifficulty, batch, { mask_reward: false })).toEqual([1, 1, 0]);
  const outcome = await run([rewardDifficulty, perAdvantage], batch, [{ mask_reward: false }]);
  expect(outcome.metrics).not.toHaveProperty("rows_reward_outside_mask");
  expect(outcome.warnings).toEqual([]);
});

it("does not warn when no reward lies outside the mask", async () => {
  const outcome = await run([rewardDifficulty, perAdvantage], batchF());
  expect(outcome.metrics.rows_reward_outside_mask).toBe(0);
  expect(outcome.warnings).toEqual([]);
});

it("does not let NaN under mask 0 matter", async () => {
  const batch = fakeBatch({ rm_scores: [[0, 1, Number.NaN]], response_mask: [[1, 1, 0]] });
  expect(await run(rewardDifficulty, batch)).toEqual([1]);
  await expect(run(rewardDifficulty, batch, { mask_reward: false })).rejects.toMatchObject({
    code: "NON_FINITE",
    details: { row: 0, column: 2 },
  });
});

it("gives a row whose last token was rejected 0, as an advantage-stage mask says", async () => {
  expect(await run(rewardDifficulty, fakeBatch({ rm_scores: [[0, 1]], response_mask: [[1, 0]] }))).toEqual([0]);
});
