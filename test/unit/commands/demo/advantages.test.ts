import { expect, test } from "vitest";
import { groupAdvantages } from "../../../../src/commands/demo/advantages.js";

test("fixture F: unbiased deviation, 1e-6 in the denominator", () => {
  const got = groupAdvantages([1, 0, 1, 0, 1, 1, 1, 0], ["a", "a", "a", "a", "b", "b", "b", "b"]);
  const want = [0.8660239, -0.8660239, 0.8660239, -0.8660239, 0.499999, 0.499999, 0.499999, -1.499997];
  for (const [row, x] of got.entries()) expect(x).toBeCloseTo(want[row]!, 6);
});

test("groups need not lie together; equal rewards teach nothing; a lone row keeps its reward", () => {
  expect(groupAdvantages([1, 5, 0, 5], ["a", "b", "a", "b"]).map((x) => Math.sign(x))).toEqual([1, 0, -1, 0]);
  expect(groupAdvantages([2], ["a"])[0]).toBeCloseTo(2 / (1 + 1e-6), 12);
});
