import { describe, expect, it } from "vitest";
import { bytesOf } from "../../../src/columns/bytes.js";
import { toFieldValue } from "../../../src/columns/input.js";
import { thrown } from "./thrown.js";

describe("lists", () => {
  it("of numbers are a vector of f32, of booleans a vector of bool", () => {
    const f32 = { kind: "tensor", dtype: "f32", shape: [2], data: Float32Array.of(1, Math.fround(0.1)) };
    expect(toFieldValue("x", [1, 0.1])).toEqual(f32);
    expect(toFieldValue("x", [true, false])).toMatchObject({ dtype: "bool", data: Uint8Array.of(1, 0) });
    expect(toFieldValue("x", [])).toMatchObject({ kind: "tensor", shape: [0] });
  });

  it("are f32 whether or not the numbers happen to be whole", () => {
    expect(toFieldValue("x", [1, 1, 1])).toMatchObject({ dtype: "f32" });
    expect(toFieldValue("x", [1, 0.5])).toMatchObject({ dtype: "f32" });
  });

  it.each([
    [
      [
        [1, 2, 3],
        [4, 5],
        [6, 7, 8, 9],
      ],
      [3, 2, 4],
      4,
    ],
    [
      [
        [1, 2, 3],
        [4, 5, 6],
        [7, 8, 9],
      ],
      [3, 3, 3],
      3,
    ],
    [[[1]], [1], 1],
    [[[1, 2]], [2], 2],
    [[[]], [0], 0],
  ])("of rows are ragged, whatever their lengths: %j", (rows, lengths, width) => {
    expect(toFieldValue("x", rows)).toEqual({
      kind: "jagged",
      dtype: "f32",
      lengths: Int32Array.from(lengths),
      width,
      data: Float32Array.from(rows.flat()),
    });
  });

  it("of typed rows keep dtype and bits", () => {
    const nan = new Float32Array(new Uint32Array([0x7fa00001]).buffer);
    const value = toFieldValue("x", [nan, Float32Array.of(-0, 2)]);
    if (value.kind !== "jagged") throw new Error(value.kind);
    expect(value.dtype).toBe("f32");
    expect([...new Uint32Array(value.data.buffer)]).toEqual([0x7fa00001, 0x80000000, 0x40000000]);
    expect(toFieldValue("x", [BigInt64Array.of(1n), BigInt64Array.of()])).toMatchObject({ dtype: "i64" });
    expect(thrown(() => toFieldValue("x", [nan, [1]])).details).toEqual({ field: "x", row: 1 });
  });

  it("of strings are a string column, also when empty under a known name", () => {
    expect(toFieldValue("uid", ["a", ""])).toEqual({ kind: "strings", values: ["a", ""] });
    expect(toFieldValue("uid", [])).toEqual({ kind: "strings", values: [] });
  });

  it("keep NaN, infinities and -0", () => {
    const { data } = toFieldValue("x", [[Number.NaN, -0, Number.NEGATIVE_INFINITY]]) as { data: Float32Array };
    expect(Object.is(data[1], -0) && Number.isNaN(data[0]) && data[2] === Number.NEGATIVE_INFINITY).toBe(true);
  });
});

describe("a value that is missing or of another sort", () => {
  it.each([
    [
      "rollout_log_probs",
      [
        [-0.1, -0.2],
        [-0.5, null, -0.7],
      ],
      { row: 1, column: 1 },
    ],
    ["rollout_log_probs", [[-0.1], [undefined]], { row: 1, column: 0 }],
    ["rollout_log_probs", [[-0.1], ["NaN"]], { row: 1, column: 0 }],
    ["x", [1, null], { row: 1 }],
    ["x", [1, [2]], { row: 1 }],
    ["x", [1, true], { row: 1 }],
    ["x", [[1], 2], { row: 1 }],
    ["x", [[[1]]], { row: 0, column: 0 }],
    ["x", [[1e39]], { row: 0, column: 0 }],
    ["uid", ["a", null], { row: 1 }],
    [
      "response_mask",
      [
        [1, 0],
        [1, 2],
      ],
      { row: 1, column: 1 },
    ],
    ["response_mask", [[0.5]], { row: 0, column: 0 }],
    ["response_mask", [[Number.NaN]], { row: 0, column: 0 }],
    ["response_mask", [[null]], { row: 0, column: 0 }],
  ])("in %s is refused with its place: %j", (name, input, place) => {
    const error = thrown(() => toFieldValue(name, input));
    expect(error.code).toBe("INVALID_INPUT");
    expect(error.details).toEqual({ field: name, ...place });
    expect(error.message).toContain(`"${name}"`);
  });
});

describe("masks", () => {
  it("from lists are bool, ragged even without a row", () => {
    expect(toFieldValue("response_mask", [[1, 0], [true]])).toMatchObject({ kind: "jagged", dtype: "bool" });
    expect(toFieldValue("response_mask", [])).toMatchObject({ kind: "jagged", lengths: new Int32Array(0) });
  });
});

describe("typed input", () => {
  it("is taken as it is, without a copy", () => {
    const data = Float64Array.of(1, 2, 3, 4);
    const value = toFieldValue("x", { data, shape: [2, 2] });
    expect(value).toMatchObject({ kind: "tensor", dtype: "f64", shape: [2, 2] });
    expect((value as { data: unknown }).data).toBe(data);
    expect(toFieldValue("x", Int32Array.of(1))).toMatchObject({ dtype: "i32", shape: [1] });
    expect(toFieldValue("x", { data: Uint16Array.of(1), shape: [1], dtype: "bf16" })).toMatchObject({ dtype: "bf16" });
    expect(toFieldValue("x", value)).toEqual(value);
  });

  it("may be ragged", () => {
    const value = toFieldValue("x", { values: Float32Array.of(1, 2, 3), lengths: [1, 2], width: 8 });
    expect(value).toEqual({
      kind: "jagged",
      dtype: "f32",
      lengths: Int32Array.of(1, 2),
      width: 8,
      data: Float32Array.of(1, 2, 3),
    });
    expect(toFieldValue("x", { values: [1, 2], lengths: [2] })).toMatchObject({ dtype: "f32", width: 2 });
    expect(bytesOf((toFieldValue("x", { values: [], lengths: [0] }) as { data: Float32Array }).data)).toHaveLength(0);
  });

  it.each([
    [{ data: Float32Array.of(1), shape: [2] }, /1 elements/],
    [{ data: Float32Array.of(1), shape: [1, 1, 1] }, /shape/],
    [{ data: Float32Array.of(1), shape: [-1] }, /shape/],
    [{ data: Float32Array.of(1), shape: [1], dtype: "f64" }, /held in a Float64Array/],
    [{ data: Float32Array.of(1), shape: [1], dtype: "f8" }, /unknown dtype/],
    [{ data: Uint16Array.of(1), shape: [1] }, /f16 or bf16/],
    [{ data: Uint32Array.of(1), shape: [1] }, /no typed array of a known dtype/],
    [{ values: Float32Array.of(1), lengths: [2] }, /add up to 2/],
    [{ values: Float32Array.of(1), lengths: [-1] }, /length -1/],
    [{ values: Float32Array.of(1, 2), lengths: [2], width: 1 }, /its width is 1/],
    [{ data: Uint8Array.of(1, 2), shape: [2], dtype: "bool" }, /element 1 is 2; a bool is 0 or 1/],
    [{}, /without shape or lengths/],
    [null, /null/],
    [7, /a number/],
  ])("that contradicts itself is refused: %j", (input, why) => {
    const error = thrown(() => toFieldValue("x", input));
    expect(error.code).toBe("INVALID_INPUT");
    expect(error.message).toMatch(why);
  });

  it("under the name of an object's property is refused", () => {
    expect(thrown(() => toFieldValue("toString", [1])).details).toEqual({ field: "toString" });
  });
});
