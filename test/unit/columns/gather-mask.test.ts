import { expect, test } from "vitest";
import { gatherMask } from "../../../src/columns/gather-mask.js";
import type { MaskColumn } from "../../../src/columns/tensor.js";

const base = { dtype: "bool", scope: "response" } as const;
const prefixes = (lengths: number[], width: number): MaskColumn => ({
  ...base,
  kind: "lengths",
  rows: lengths.length,
  width,
  lengths: Int32Array.from(lengths),
});
/** Rows 2 and 3: ones at 1–2; ones at 0 and at 3–4. */
const holes: MaskColumn = {
  ...base,
  kind: "runs",
  rows: 2,
  width: 5,
  offsets: Int32Array.of(0, 1, 3),
  bounds: Int32Array.of(1, 3, 0, 1, 3, 5),
};
const pieces = [
  { mask: prefixes([3, 0], 4), ranges: [0, 2] },
  { mask: holes, ranges: [2, 4] },
];

test("the same rows are the same mask", () => {
  expect(gatherMask(pieces, [0, 2])).toBe(pieces[0]!.mask);
});
test("rows of several masks, with the larger width", () => {
  expect(gatherMask(pieces, [0, 1, 3, 4])).toEqual({
    ...base,
    kind: "runs",
    rows: 2,
    width: 5,
    offsets: Int32Array.of(0, 1, 3),
    bounds: Int32Array.of(0, 3, 0, 1, 3, 5),
  });
});
test("prefixes stay prefixes, a row without ones included", () => {
  expect(gatherMask(pieces, [1, 2])).toEqual(prefixes([0], 4));
});
test("of two masks of a row the last counts", () => {
  expect(gatherMask([...pieces, { mask: prefixes([2], 4), ranges: [0, 1] }], [0, 2])).toBe(pieces[0]!.mask);
  expect(gatherMask([...pieces, { mask: prefixes([2], 4), ranges: [0, 1] }], [0, 1])).toEqual(prefixes([2], 4));
});
test("a row that no mask covers", () => {
  expect(gatherMask(pieces, [3, 5])).toBeUndefined();
  expect(gatherMask([], [0, 1])).toBeUndefined();
  expect(gatherMask([], [])).toBeUndefined();
});
