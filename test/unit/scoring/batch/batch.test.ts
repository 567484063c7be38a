import { describe, expect, it } from "vitest";
import type { Column, LengthsColumn } from "../../../../src/columns/tensor.js";
import { createBatch } from "../../../../src/scoring/batch/batch.js";
import { fakeBatch } from "../../../../src/testing.js";

const mask: LengthsColumn = {
  kind: "lengths",
  dtype: "bool",
  scope: "response",
  rows: 2,
  width: 3,
  lengths: Int32Array.from([3, 0]),
};
const make = (columns: Record<string, Column>, lengths?: Int32Array) =>
  createBatch({
    layout: { rows: 2, width: 3, mask, ...(lengths && { lengths }) },
    columns: new Map(Object.entries(columns)),
  });

it("is live where a row is real and has an unmasked token", () => {
  const batch = fakeBatch({ response_mask: [[1], [0], [1]] }, { is_padding: [false, false, true] });
  expect([...batch.live]).toEqual([1, 0, 0]);
  expect(batch.liveCount).toBe(1);
});

it("counts every real row as live when there is no mask", () => {
  const batch = createBatch({
    layout: { rows: 2, width: 0 },
    columns: new Map([["value", { kind: "vector", dtype: "f64", rows: 2, values: Float64Array.from([1, 2]) }]]),
  });
  expect(batch.liveCount).toBe(2);
  expect(batch.column("value").mean()).toBe(1.5);
});

it("reads numeric and string columns, and says how to read a column of another kind", () => {
  const batch = fakeBatch({ turns: [1, 2], uid: ["a", "b"], values: [[1], [2]] });
  expect([...batch.column("turns").values]).toEqual([1, 2]);
  expect(batch.strings("uid")).toEqual(["a", "b"]);
  expect(() => batch.column("values")).toThrow(/use batch.field\('values'\)/);
  expect(() => batch.field("turns")).toThrow(/use batch.column\('turns'\)/);
  expect(() => batch.field("uid")).toThrow(/use batch.strings\('uid'\)/);
});

it("refuses a field that was not declared", () => {
  const batch = fakeBatch({ values: [[1]], others: [[1]] }).restrict(["values"]);
  expect(batch.fields).toEqual(["values"]);
  expect(() => batch.field("others")).toThrow(
    expect.objectContaining({ code: "COMPONENT", message: expect.stringContaining("requires") }),
  );
});

it("finds a numeric column's NaN in live rows only", () => {
  const batch = fakeBatch({ turns: [1, Number.NaN], response_mask: [[1], [0]] });
  expect(batch.column("turns").mean()).toBe(1);
  expect(() => fakeBatch({ turns: [1, Number.NaN] }).column("turns")).toThrow(expect.objectContaining({ rows: [1] }));
});

it("treats dropped rows as padding", () => {
  const batch = fakeBatch({ values: [[1], [2], [3]] }).without([1]);
  expect([...batch.live]).toEqual([1, 0, 1]);
  expect([...batch.field("values").sum().values]).toEqual([1, 0, 3]);
});

it("takes response lengths from the argument, the layout, or a response-scoped jagged column", () => {
  const jagged = { kind: "jagged", dtype: "f64", scope: "response", rows: 2, width: 3 } as const;
  const values = Float64Array.from([1, 2, 3, 4, 5]);
  const column: Column = { ...jagged, offsets: Int32Array.from([0, 3, 5]), values };
  expect([...make({ rm_scores: column }).field("rm_scores").sum({ over: "response" }).values]).toEqual([6, 9]);
  const row: Column = {
    kind: "row",
    dtype: "f64",
    scope: "response",
    rows: 2,
    width: 3,
    values: Float64Array.from([1, 1]),
  };
  expect([...make({ rm_scores: row }).field("rm_scores").sum({ over: "response" }).values]).toEqual([3, 3]);
  expect([
    ...make({ rm_scores: row }, Int32Array.from([3, 1]))
      .field("rm_scores")
      .sum({ over: "response" }).values,
  ]).toEqual([3, 1]);
});

describe("refuses a column that does not fit, naming it", () => {
  const token = { dtype: "f64", scope: "mask", rows: 2, width: 3 } as const;
  const f64 = (n: number) => new Float64Array(n);
  const i32 = (...values: number[]) => Int32Array.from(values);
  it.each<[string, Column]>([
    ["rows", { ...token, rows: 3, kind: "row", values: f64(3) }],
    ["width", { ...token, width: 4, kind: "dense", values: f64(8) }],
    ["too few values", { ...token, kind: "dense", values: f64(5) }],
    ["jagged lengths other than the mask's", { ...token, kind: "jagged", offsets: i32(0, 2, 2), values: f64(2) }],
    ["offsets that do not end at the values", { ...token, kind: "jagged", offsets: i32(0, 3, 3), values: f64(4) }],
    ["an index outside the width", { ...token, kind: "sparse", offsets: i32(0, 1, 1), index: i32(3), values: f64(1) }],
    ["a string that is not in the table", { kind: "strings", rows: 2, table: ["a"], index: i32(0, 1) }],
    ["vector length", { kind: "vector", dtype: "f64", rows: 2, values: f64(1) }],
  ])("%s", (_what, column) => {
    expect(() => make({ thing: column })).toThrow(
      expect.objectContaining({ code: "INVALID_INPUT", message: expect.stringContaining("thing") }),
    );
  });
});
