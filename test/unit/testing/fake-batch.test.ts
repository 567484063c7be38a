import { expect, it } from "vitest";
import { fakeBatch } from "../../../src/testing.js";

it("pads ragged rows to the widest, and takes their lengths as response lengths", () => {
  const batch = fakeBatch({ rm_scores: [[1], [0, 0, 2]] });
  expect([batch.rows, batch.width]).toEqual([2, 3]);
  expect([...batch.field("rm_scores").sum({ over: "response" }).values]).toEqual([1, 2]);
  expect(fakeBatch({ rm_scores: [[1]] }, { width: 9 }).width).toBe(9);
});

it("uses the usual scopes unless told otherwise", () => {
  const fields = { rm_scores: [[1, 2]], mine: [[1, 2]], response_mask: [[1, 0]] };
  expect(fakeBatch(fields).field("mine").scope).toBe("mask");
  expect(fakeBatch(fields).field("rm_scores").scope).toBe("response");
  const wide = fakeBatch(fields, { scopes: { mine: "response" } });
  expect([...wide.field("mine").sum({ over: "response" }).values]).toEqual([3]);
});

it.each(["row", "last", "sparse"] as const)("encodes compactly as %s where the values allow it", (kind) => {
  const values = {
    row: [[2, 2], [3]],
    last: [[0, 2], [3]],
    sparse: [
      [5, 0, 0, 1],
      [0, 4],
    ],
  }[kind];
  const { expression } = fakeBatch({ values }, { encode: "compact" }).field("values");
  expect(expression).toMatchObject({ column: { kind } });
});

it("says where fields disagree", () => {
  const code = "INVALID_INPUT";
  expect(() => fakeBatch({ a: [[1], [2]], b: [[1], [2, 3]] })).toThrow(
    expect.objectContaining({ code, message: expect.stringMatching(/row 1.*'b'/) }),
  );
  expect(() => fakeBatch({ a: [[1]], b: [[1], [2]] })).toThrow(expect.objectContaining({ code }));
});
