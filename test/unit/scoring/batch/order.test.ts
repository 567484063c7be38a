import { expect, it } from "vitest";
import { quantileOf, rankOrder } from "../../../../src/scoring/batch/order.js";

it("interpolates quantiles linearly and is exact at both ends", () => {
  const values = () => Float64Array.from([4, 1, 3, 2]);
  expect(quantileOf(values(), 0.25)).toBe(1.75);
  expect(quantileOf(values(), 0)).toBe(1);
  expect(quantileOf(values(), 1)).toBe(4);
  expect(quantileOf(Float64Array.from([0, 0, 1, 1, 1]), 0.25)).toBe(0);
  expect(quantileOf(Float64Array.from([0, 0, 1, 1, 1]), 0.75)).toBe(1);
  expect(quantileOf(Float64Array.from([7]), 0.3)).toBe(7);
  expect(quantileOf(new Float64Array(0), 0.5)).toBe(0);
});

it("refuses a quantile outside [0, 1]", () => {
  expect(() => quantileOf(Float64Array.from([1]), 1.5)).toThrow(RangeError);
  expect(() => quantileOf(Float64Array.from([1]), Number.NaN)).toThrow(RangeError);
});

it("orders by float32 value, equal ones by row, both ways", () => {
  const values = Float64Array.from([1, 2, 2 + 1e-12, 0]);
  const rows = Int32Array.from([0, 1, 2, 3]);
  expect([...rankOrder(rows, values, true)]).toEqual([1, 2, 0, 3]);
  expect([...rankOrder(rows, values, false)]).toEqual([3, 0, 1, 2]);
});
