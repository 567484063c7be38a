import { expect, it } from "vitest";
import { groupRewardVariance } from "../../../../src/scoring/components/scorers/group-reward-variance.js";
import { fakeBatch, run } from "../../../../src/testing.js";
import { expectClose } from "../../../helpers/close.js";

const score = async (rewards: number[]) => {
  const batch = fakeBatch({ rm_scores: rewards.map((reward) => [reward]), uid: rewards.map(() => "a") });
  return (await run(groupRewardVariance, batch)) as number[];
};
const outcomes = (successes: number, size: number) => Array.from({ length: size }, (_, i) => Number(i < successes));

it.each([
  { successes: 2, size: 4, want: 1 },
  { successes: 3, size: 4, want: 0.75 },
  { successes: 1, size: 8, want: 0.4375 },
  { successes: 2, size: 5, want: 1 },
  { successes: 1, size: 5, want: 2 / 3 },
  { successes: 0, size: 4, want: 0 },
  { successes: 1, size: 1, want: 0 },
])("$successes of $size successes score $want", async ({ successes, size, want }) => {
  expectClose(await score(outcomes(successes, size)), new Array(size).fill(want), 1e-12);
});

it("takes rewards other than 0 and 1, up to 1", async () => {
  expectClose(await score([0.25, 0.75]), [0.25, 0.25], 1e-12);
  expect(await score([1, -1])).toEqual([1, 1]);
});
