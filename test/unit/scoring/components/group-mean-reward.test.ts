import { expect, it } from "vitest";
import { groupMeanReward } from "../../../../src/scoring/components/scorers/group-mean-reward.js";
import { fakeBatch, run } from "../../../../src/testing.js";
import { batchF } from "../../../helpers/batch-f.js";

it("is the solve rate where rewards are 0 and 1", async () => {
  expect(await run(groupMeanReward, batchF())).toEqual([0.5, 0.5, 0.5, 0.5, 0.75, 0.75, 0.75, 0.75]);
});

it("takes any reward, leaves padding out and counts a session once", async () => {
  const batch = fakeBatch(
    { rm_scores: [[1], [0], [0.5], [-1], [9]], uid: ["a", "a", "a", "b", "a"] },
    { is_padding: [false, false, false, false, true] },
  );
  expect((await run(groupMeanReward, batch)).slice(0, 4)).toEqual([0.5, 0.5, 0.5, -1]);
  const sessions = fakeBatch({ rm_scores: [[1], [1], [0]], uid: ["a", "a", "a"], session: ["s", "s", "t"] });
  expect(await run(groupMeanReward, sessions)).toEqual([0.5, 0.5, 0.5]);
});
