import { describe, expect, it } from "vitest";
import { decodeColumns } from "../../../src/columns/decode.js";
import { encodeColumns } from "../../../src/columns/encode.js";
import { toFieldValue } from "../../../src/columns/input.js";
import { layoutOf } from "../../../src/columns/layout.js";
import { DEFAULT_LIMITS } from "../../../src/columns/limits.js";
import { maskOf } from "../../../src/columns/mask.js";
import type { FieldValue, Jagged, JaggedColumn, Layout, Scope } from "../../../src/columns/tensor.js";
import { densify } from "../../helpers/densify.js";
import { thrown } from "./thrown.js";

function encode(inputs: Record<string, unknown>, scopes: Record<string, Scope> = {}, lengths?: number[]) {
  const fields: Record<string, FieldValue> = Object.fromEntries(
    Object.entries(inputs).map(([name, input]) => [name, toFieldValue(name, input)]),
  );
  const rows = Object.values(inputs)[0] as { length?: number; shape?: number[] };
  const layout = layoutOf(fields, {
    rows: rows.shape?.[0] ?? rows.length!,
    ...(lengths === undefined ? {} : { lengths }),
  });
  const encoded = encodeColumns(fields, { scopes, layout });
  return { ...encoded, enc: Object.fromEntries(encoded.columns.map(({ name, enc }) => [name, enc])) };
}

const rows = (count: number, width: number, value: (i: number, j: number) => number): number[][] =>
  Array.from({ length: count }, (_, i) => Array.from({ length: width }, (_, j) => value(i, j)));

describe("the encoder", () => {
  it("sends a GRPO step of any width as two vectors", () => {
    const response_mask = rows(64, 100, (i, j) => (j < 20 + i ? 1 : 0));
    const advantages = rows(64, 100, (i, j) => (j < 20 + i ? i - 30.5 : 7));
    const { enc, bytes } = encode({ response_mask, advantages });
    expect(enc).toEqual({ response_mask: "lengths", advantages: "row" });
    expect(bytes).toBe(2 * 64 * 4);
  });

  it("picks what the content allows", () => {
    const response_mask = rows(8, 64, (_, j) => (j < 40 && j % 20 < 15 ? 1 : 0));
    const { enc } = encode(
      {
        response_mask,
        row: rows(8, 64, (i, j) => (j === 17 ? 1 : i)),
        last: rows(8, 64, (i, j) => (j === 63 ? i + 1 : 0)),
        sparse: rows(8, 64, (_, j) => (j === 3 || j === 30 ? 1 : 0)),
        jagged: rows(8, 64, (i, j) => i + j + 0.5),
        dense: rows(8, 64, (i, j) => i + j + 0.5),
        domain: Array(8).fill("math"),
        vector: Array(8).fill(1),
      },
      { last: "response", dense: "response" },
    );
    expect(enc).toEqual({
      response_mask: "runs",
      row: "row",
      last: "last",
      sparse: "sparse",
      jagged: "jagged",
      dense: "dense",
      domain: "strings",
      vector: "dense",
    });
  });

  it("tells -0 from 0 and one NaN from another", () => {
    const minus = rows(4, 64, (i, j) => (j === 10 && i === 2 ? -0 : 0));
    expect(encode({ x: minus }, { x: "response" }).enc.x).toBe("sparse");
    const data = new Uint32Array(64).fill(0x7fc00000);
    const same = { data: new Float32Array(data.buffer), shape: [1, 64] };
    expect(encode({ x: same }, { x: "response" }).enc.x).toBe("row");
    data[63] = 0x7fc00001;
    expect(encode({ x: same }, { x: "response" }).enc.x).toBe("dense");
  });

  it("sends the few rows that are not zero, where even one value a row is more", () => {
    const x = (value: number) => ({
      data: Float64Array.from({ length: 64 * 4 }, (_, k) => (k >= 12 && k < 16 ? value : 0)),
      shape: [64, 4],
    });
    expect(encode({ x: x(0) }, { x: "response" })).toMatchObject({ enc: { x: "sparse" }, bytes: 256 });
    expect(encode({ x: x(5) }, { x: "response" })).toMatchObject({ enc: { x: "sparse" }, bytes: 256 + 16 + 32 });
  });

  it("looks only at tokens in scope", () => {
    const response_mask = rows(4, 64, (_, j) => (j < 30 ? 1 : 0));
    const x = rows(4, 64, (i, j) => (j < 30 ? i : j));
    expect(encode({ response_mask, x }).enc.x).toBe("row");
    expect(encode({ response_mask, x }, { x: "response" }).enc.x).toBe("dense");
    expect(encode({ x }, { x: "response" }, [30, 30, 30, 30]).enc.x).toBe("row");
  });

  it("does not copy what travels whole", () => {
    const data = Float32Array.from({ length: 64 }, (_, i) => i + 1);
    const { parts } = encode({ x: { data, shape: [1, 64] } }, { x: "response" });
    expect(parts[0]!.buffer).toBe(data.buffer);
  });

  it("wants response_mask for a field that counts only under it", () => {
    const error = thrown(() => encode({ advantages: [[1, 2]] }));
    expect(error.code).toBe("INVALID_INPUT");
    expect(error.message).toContain("send response_mask");
    expect(error.details).toEqual({ field: "advantages" });
  });

  it("refuses a mask that is not the layout's, and tokens that are missing", () => {
    const response_mask = toFieldValue("response_mask", [[1, 0]]);
    const other: Layout = layoutOf({ response_mask: toFieldValue("response_mask", [[1, 1]]) }, { rows: 1 });
    expect(thrown(() => encodeColumns({ response_mask }, { scopes: {}, layout: other })).code).toBe("INVALID_INPUT");
    const error = thrown(() => encode({ x: [[1], [1, 2]] }, { x: "response" }, [1, 3]));
    expect(error.details).toEqual({ field: "x", row: 1, column: 2 });
  });

  it("takes the mask of an earlier put, whatever that was padded to", () => {
    const x = toFieldValue("x", { data: Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8), shape: [2, 4] });
    for (const width of [3, 4, 9]) {
      const mask = maskOf("response_mask", toFieldValue("response_mask", [[1, 0, 1], [1]]) as Jagged, width);
      const { columns, parts } = encodeColumns({ x }, { scopes: {}, layout: { rows: 2, width: 4, mask } });
      expect(columns[0]!.shape).toEqual([2, Math.max(4, width)]);
      const column = decodeColumns(columns, Buffer.concat(parts), DEFAULT_LIMITS).get("x") as JaggedColumn;
      const dense = densify(column, { rows: 2, width: 9, mask });
      expect([...dense.data]).toEqual([1, 0, 3, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0]);
    }
    const other = maskOf("response_mask", toFieldValue("response_mask", [[1]]) as Jagged, 4);
    expect(thrown(() => encodeColumns({ x }, { scopes: {}, layout: { rows: 2, width: 4, mask: other } })).code).toBe(
      "INVALID_INPUT",
    );
  });

  it("keeps to the limits", () => {
    const x = toFieldValue("x", [1, 2, 3]);
    const uid = toFieldValue("uid", ["a", "b".repeat(2000), "c"]);
    const layout: Layout = { rows: 3, width: 0 };
    const code = (fields: Record<string, FieldValue>, limits: object) =>
      thrown(() => encodeColumns(fields, { scopes: {}, layout, limits: { ...DEFAULT_LIMITS, ...limits } })).code;
    expect(code({ x }, { max_rows: 2 })).toBe("LIMIT");
    expect(code({ x }, { max_put_bytes: 15 })).toBe("LIMIT");
    expect(code({ uid }, {})).toBe("LIMIT");
    const half = toFieldValue("uid", ["a", "\udc00", "c"]);
    expect(thrown(() => encodeColumns({ half }, { scopes: {}, layout })).details).toEqual({ field: "half", row: 1 });
  });
});
