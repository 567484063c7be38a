import { describe, expect, it } from "vitest";
import { fakeBatch } from "../../../../src/testing.js";

/** Rows 0–3 live, row 4 fully masked, row 5 padding. */
const batch = fakeBatch(
  { values: [[0], [0], [0], [0], [0], [0]], response_mask: [[1], [1], [1], [1], [0], [1]] },
  { is_padding: [false, false, false, false, false, true] },
);
const vector = (...values: number[]) => batch.vector([...values, 99, 1e9].slice(-6));
const v = vector(1, 2, 3, 4);

it("computes every row", () => {
  const w = vector(4, 3, 2, 1);
  expect([...v.add(w).values].slice(0, 4)).toEqual([5, 5, 5, 5]);
  expect([...v.sub(1).mul(w).div(2).values].slice(0, 4)).toEqual([0, 1.5, 2, 1.5]);
  expect([...v.pow(2).clip(2, 9).values].slice(0, 4)).toEqual([2, 4, 9, 9]);
  expect([...v.mul(-1).abs().square().values].slice(0, 4)).toEqual([1, 4, 9, 16]);
  expect([...v.log().exp().values][3]).toBeCloseTo(4, 12);
  expect([...v.map((a, b) => a * 10 + b, w).values].slice(0, 4)).toEqual([14, 23, 32, 41]);
});

it("takes statistics over live rows only", () => {
  expect(v.count()).toBe(4);
  expect(v.sum()).toBe(10);
  expect(v.mean()).toBe(2.5);
  expect(v.std()).toBeCloseTo(Math.sqrt(5 / 3), 14);
  expect(v.max()).toBe(4);
  expect(v.min()).toBe(1);
  expect(v.quantile(0.25)).toBe(1.75);
});

it("ranks, softens and lists live rows only", () => {
  expect([...v.rank().values]).toEqual([3, 2, 1, 0, 4, 4]);
  expect([...v.rank({ largest: false }).values]).toEqual([0, 1, 2, 3, 4, 4]);
  const soft = vector(0, 0, 0, 0).softmax();
  expect([...soft.values]).toEqual([0.25, 0.25, 0.25, 0.25, 0, 0]);
  expect([...v.gt(2).nonzero()]).toEqual([2, 3]);
});

it("compares as float32 and combines with and, or, not", () => {
  expect([
    ...vector(0.2, 0.2 + 1e-12, 0.3, 0.1)
      .gt(0.2)
      .nonzero(),
  ]).toEqual([2]);
  expect([
    ...vector(0.2, 0.2 + 1e-12, 0.3, 0.1)
      .ge(0.2)
      .nonzero(),
  ]).toEqual([0, 1, 2]);
  expect([...v.lt(2).or(v.gt(3)).nonzero()]).toEqual([0, 3]);
  expect([...v.ge(2).and(v.le(3)).nonzero()]).toEqual([1, 2]);
  expect([...v.ge(2).not().nonzero()]).toEqual([0]);
  expect([...v.lt(vector(9, 0, 9, 0)).nonzero()]).toEqual([0, 2]);
});

describe("a NaN that would disappear stops the component", () => {
  const broken = vector(1, Number.NaN, 3, 4);
  it.each([
    ["gt", () => broken.gt(0)],
    ["rank", () => broken.rank()],
    ["quantile", () => broken.quantile(0.5)],
    ["softmax", () => broken.softmax()],
    ["the other side of a comparison", () => v.lt(broken)],
  ])("in %s", (_name, act) => {
    expect(act).toThrow(expect.objectContaining({ name: "NonFinite", rows: [1] }));
  });

  it("but not when it stands in a row that does not count", () => {
    const padded = batch.vector([1, 2, 3, 4, Number.NaN, Number.NaN]);
    expect([...padded.gt(2).nonzero()]).toEqual([2, 3]);
    expect(padded.mean()).toBe(2.5);
  });
});

it("answers 0 where there is nothing to take a statistic of", () => {
  const none = fakeBatch({ values: [[0]], response_mask: [[0]] }).vector([5]);
  expect([none.sum(), none.mean(), none.std(), none.max(), none.min(), none.quantile(0.5)]).toEqual([0, 0, 0, 0, 0, 0]);
  expect([...none.softmax().values]).toEqual([0]);
  expect(
    fakeBatch({ values: [[0]] })
      .vector([5])
      .std(),
  ).toBe(0);
});

it("refuses vectors of another length", () => {
  expect(() => batch.vector([1, 2])).toThrow(expect.objectContaining({ code: "COMPONENT" }));
  expect(() => v.add(fakeBatch({ values: [[0]] }).vector([1]))).toThrow(expect.objectContaining({ code: "COMPONENT" }));
});
