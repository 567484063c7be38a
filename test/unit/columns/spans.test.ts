import { describe, expect, it } from "vitest";
import { difference, lastOf, lastToken, rankOf, tokenAt } from "../../../src/columns/span-walks.js";
import { fullSpans, maskSpans, prefixSpans } from "../../../src/columns/spans.js";
import type { RunsColumn } from "../../../src/columns/tensor.js";

const runs = (bounds: number[][], width: number): RunsColumn => {
  const offsets = [0];
  for (const row of bounds) offsets.push(offsets.at(-1)! + row.length / 2);
  return {
    kind: "runs",
    dtype: "bool",
    scope: "response",
    rows: bounds.length,
    width,
    offsets: Int32Array.from(offsets),
    bounds: Int32Array.from(bounds.flat()),
  };
};
const holes = maskSpans(runs([[0, 2, 4, 5], [], [3, 6]], 6));

it("counts tokens, finds the last, and converts between position and rank", () => {
  expect([...holes.counts]).toEqual([3, 0, 3]);
  expect([...holes.starts]).toEqual([0, 3, 3, 6]);
  expect([0, 1, 2].map((row) => lastToken(holes, row))).toEqual([4, -1, 5]);
  expect([0, 1, 2, 3, 4, 5].map((token) => rankOf(holes, 0, token))).toEqual([0, 1, -1, -1, 2, -1]);
  expect([0, 1, 2].map((k) => tokenAt(holes, 0, k))).toEqual([0, 1, 4]);
});

it("keeps rank and position inverse to each other", () => {
  for (let row = 0; row < 3; row++) {
    for (let k = 0; k < holes.counts[row]!; k++) expect(rankOf(holes, row, tokenAt(holes, row, k))).toBe(k);
  }
});

it("takes the last token alone, with its rank", () => {
  const last = lastOf(holes);
  expect([...last.counts]).toEqual([1, 0, 1]);
  expect([...last.bounds]).toEqual([4, 5, 5, 6]);
  expect([...last.before]).toEqual([2, 2]);
});

it("takes what is in one set and not in the other", () => {
  const outside = difference(prefixSpans(Int32Array.from([5, 2, 4]), 6), holes);
  expect([...outside.bounds]).toEqual([2, 4, 0, 2, 0, 3]);
  expect([...outside.counts]).toEqual([2, 2, 3]);
  expect([...difference(holes, fullSpans(3, 6)).counts]).toEqual([0, 0, 0]);
});

describe("refuses runs that would read a neighbour row", () => {
  it.each([
    { what: "beyond the width", bounds: [[0, 7]] },
    { what: "empty", bounds: [[2, 2]] },
    { what: "overlapping", bounds: [[0, 3, 2, 5]] },
    { what: "negative", bounds: [[-1, 2]] },
  ])("$what", ({ bounds }) => {
    expect(() => maskSpans(runs(bounds, 6))).toThrow(expect.objectContaining({ code: "INVALID_INPUT" }));
  });

  it("and lengths beyond the width", () => {
    expect(() => prefixSpans(Int32Array.from([3, 7]), 6)).toThrow(/row 1/);
    expect(() => prefixSpans(Int32Array.from([-1]), 6)).toThrow(/row 0/);
  });
});
