import { expect, it } from "vitest";
import { groupSolveRate } from "../../../../src/scoring/components/scorers/group-solve-rate.js";
import { fakeBatch, run } from "../../../../src/testing.js";
import { batchF } from "../../../helpers/batch-f.js";

const outcomes = (rewards: number[]) => rewards.map((reward) => [0, reward]);

it.each(["jagged", "dense", "compact"] as const)("is 1/2 and 3/4 on fixture F, encoded %s", async (encode) => {
  expect(await run(groupSolveRate, batchF({ encode }))).toEqual([0.5, 0.5, 0.5, 0.5, 0.75, 0.75, 0.75, 0.75]);
});

it("compares strictly with the threshold", async () => {
  const batch = fakeBatch({ rm_scores: outcomes([0.5, 1]), uid: ["a", "a"] });
  expect(await run(groupSolveRate, batch)).toEqual([0.5, 0.5]);
  expect(await run(groupSolveRate, batch, { success_threshold: 0.4 })).toEqual([1, 1]);
});

it("does not need a group's rows to lie together", async () => {
  const batch = fakeBatch({ rm_scores: outcomes([1, 0, 0, 0]), uid: ["a", "b", "a", "b"] });
  expect(await run(groupSolveRate, batch)).toEqual([0.5, 0, 0.5, 0]);
});

it("takes the last row of each session once", async () => {
  const batch = fakeBatch({
    rm_scores: outcomes([0, 0, 1, 0]),
    uid: ["a", "a", "a", "a"],
    session: ["0", "0", "0", "1"],
  });
  expect(await run(groupSolveRate, batch)).toEqual([0.5, 0.5, 0.5, 0.5]);
});

it("counts neither padding nor fully masked rows", async () => {
  const batch = fakeBatch(
    {
      rm_scores: outcomes([1, 0, 0, 0]),
      response_mask: [
        [1, 1],
        [1, 1],
        [0, 0],
        [1, 1],
      ],
      uid: ["a", "a", "a", "a"],
    },
    { is_padding: [false, false, false, true] },
  );
  expect(((await run(groupSolveRate, batch)) as number[]).slice(0, 2)).toEqual([0.5, 0.5]);
});

it("counts reward under the mask only, unless told otherwise", async () => {
  const batch = fakeBatch({
    rm_scores: outcomes([1, 1]),
    response_mask: [
      [1, 0],
      [1, 1],
    ],
    uid: ["a", "a"],
  });
  expect(await run(groupSolveRate, batch)).toEqual([0.5, 0.5]);
  expect(await run(groupSolveRate, batch, { mask_reward: false })).toEqual([1, 1]);
});
