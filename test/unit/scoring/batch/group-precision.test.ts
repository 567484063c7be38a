import { expect, test } from "vitest";
import { type FakeOptions, fakeBatch } from "../../../../src/testing/fake-batch.js";

/** GRPO's advantage of each row: its reward less the group's mean, over the unbiased deviation and 1e-6. */
function advantages(rewards: readonly number[], options: FakeOptions = {}): number[] {
  const batch = fakeBatch({ rm_scores: rewards.map((r) => [0, r]), uid: rewards.map(() => "a") }, options);
  const reward = batch.field("rm_scores").sum({ over: "response" });
  const groups = batch.groupBy("uid");
  return [...reward.sub(groups.mean(reward)).div(groups.std(reward).add(1e-6)).values];
}

test("group statistics of bf16 rewards are made in float64: one ulp apart is still apart", () => {
  for (const [i, want] of [-0.5, -0.5, -0.5, 1.5].entries()) {
    expect(advantages([1, 1, 1, 1.0078125], { dtype: "bf16" })[i]).toBeCloseTo(want, 3);
  }
});

test.each(["f64", "f32", "bf16"] as const)("a constant group of %s gives 0, never NaN; whole rewards work", (dtype) => {
  expect(advantages([0.5, 0.5, 0.5], { dtype })).toEqual([0, 0, 0]);
  const got = advantages([0, 1], { dtype });
  expect(got[0]).toBeCloseTo(-0.7071058, 6);
  expect(got[1]).toBeCloseTo(0.7071058, 6);
});
