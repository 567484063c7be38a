import { expect, it } from "vitest";
import { roundHalfEven, shareOf } from "../../../../src/scoring/batch/rounding.js";

it.each([
  [0.5, 0],
  [1.5, 2],
  [2.5, 2],
  [3.5, 4],
  [-0.5, 0],
  [2.4999, 2],
  [2.5001, 3],
])("rounds %d to %d", (x, want) => {
  expect(roundHalfEven(x) + 0).toBe(want);
});

it("keeps at least one", () => {
  expect(shareOf(0.1, 3)).toBe(1);
  expect(shareOf(0.5, 5)).toBe(2);
  expect(shareOf(0.5, 7)).toBe(4);
});
