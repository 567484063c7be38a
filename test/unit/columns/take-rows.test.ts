import { describe, expect, it } from "vitest";
import { toFieldValue } from "../../../src/columns/input.js";
import { takeRows } from "../../../src/columns/take-rows.js";
import { thrown } from "./thrown.js";

describe("takeRows", () => {
  it("reorders, repeats and leaves out rows of every kind of field", () => {
    const order = [2, 0, 2];
    const take = (input: unknown) => takeRows(toFieldValue("x", input), order);
    expect(take([1, 2, 3])).toEqual(toFieldValue("x", [3, 1, 3]));
    expect(take(["a", "b", "c"])).toEqual(toFieldValue("x", ["c", "a", "c"]));
    expect(take([[1, 2], [], [3]])).toEqual(toFieldValue("x", [[3], [1, 2], [3]]));
    const dense = { data: Int32Array.of(1, 2, 3, 4, 5, 6), shape: [3, 2] };
    expect(take(dense)).toEqual(toFieldValue("x", { data: Int32Array.of(5, 6, 1, 2, 5, 6), shape: [3, 2] }));
    expect(takeRows(toFieldValue("x", dense), [])).toMatchObject({ shape: [0, 2] });
  });

  it("keeps bits", () => {
    const data = new Float32Array(new Uint32Array([0x7fa00001, 0x80000000]).buffer);
    const taken = takeRows({ kind: "tensor", dtype: "f32", shape: [2], data }, [1, 0]);
    if (taken.kind !== "tensor") throw new Error(taken.kind);
    expect([...new Uint32Array(taken.data.buffer)]).toEqual([0x80000000, 0x7fa00001]);
  });

  it.each([[[3]], [[-1]], [[0.5]]])("refuses rows that are not there: %j", (order) => {
    expect(thrown(() => takeRows(toFieldValue("x", [1, 2, 3]), order)).code).toBe("INVALID_INPUT");
  });
});
