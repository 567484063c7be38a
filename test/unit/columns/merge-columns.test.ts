import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bytesOf } from "../../../src/columns/bytes.js";
import { decodeColumns } from "../../../src/columns/decode.js";
import { encodeColumns } from "../../../src/columns/encode.js";
import { toFieldValue } from "../../../src/columns/input.js";
import { layoutOf, layoutOfColumns } from "../../../src/columns/layout.js";
import { DEFAULT_LIMITS } from "../../../src/columns/limits.js";
import { mergeColumns } from "../../../src/columns/merge-columns.js";
import { rangesOf } from "../../../src/columns/row-ranges.js";
import { takeRows } from "../../../src/columns/take-rows.js";
import type { Column, FieldValue, Layout, Scope } from "../../../src/columns/tensor.js";
import { densify } from "../../helpers/densify.js";
import { caseArb, expectedBytes, fieldsOf } from "./arbitraries.js";
import { thrown } from "./thrown.js";

/** The fields of some rows, through the wire. */
function send(fields: Record<string, FieldValue>, rows: number[], scope: Scope, lengths?: readonly number[]) {
  const taken = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, takeRows(value, rows)]));
  const known = lengths === undefined ? {} : { lengths: rows.map((row) => lengths[row]!) };
  const layout = layoutOf(taken, { rows: rows.length, ...known });
  const { columns, parts } = encodeColumns(taken, { scopes: { x: scope }, layout });
  return { rows: rangesOf(rows), columns: decodeColumns(columns, Buffer.concat(parts), DEFAULT_LIMITS) };
}

function column(input: unknown, name = "x", scope: Scope = "response"): Column {
  const fields = { [name]: toFieldValue(name, input) };
  const rows = (input as unknown[]).length;
  const { columns, parts } = encodeColumns(fields, { scopes: { x: scope }, layout: layoutOf(fields, { rows }) });
  return decodeColumns(columns, Buffer.concat(parts), DEFAULT_LIMITS).get(name)!;
}

describe("mergeColumns", () => {
  it("makes of several producers' pieces what one producer would have sent", () => {
    fc.assert(
      fc.property(
        caseArb.filter((c) => c.rows > 0),
        fc.array(fc.nat({ max: 2 }), { minLength: 7, maxLength: 7 }),
        (c, owners) => {
          const fields = fieldsOf(c);
          const known = c.lengthsKnown ? c.lengths : undefined;
          const pieces = [0, 1, 2]
            .map((owner) => Array.from({ length: c.rows }, (_, r) => r).filter((r) => owners[r] === owner))
            .filter((rows) => rows.length > 0)
            .map((rows) => send(fields, rows, c.scope, known));
          const of = (name: string) => pieces.map(({ rows, columns }) => ({ rows, column: columns.get(name)! }));
          const mask = mergeColumns(of("response_mask"), c.rows);
          if (mask.kind !== "lengths" && mask.kind !== "runs") throw new Error(mask.kind);
          const partial: Layout = { rows: c.rows, width: c.width, mask };
          const x = mergeColumns(of("x"), c.rows, partial);
          if (x.kind === "strings") throw new Error(x.kind);
          const layout = layoutOfColumns(
            new Map<string, Column>([
              ["x", x],
              ["response_mask", mask],
            ]),
            c.rows,
          );
          const tensor = densify(x, { ...layout, width: c.width });
          expect(Buffer.from(bytesOf(tensor.data)).toString("hex")).toBe(Buffer.from(expectedBytes(c)).toString("hex"));
        },
      ),
      { numRuns: 2000 },
    );
  });

  it("keeps one kind in that kind", () => {
    const pieces = (a: unknown, b: unknown) => [
      { rows: [0, 1], column: column(a) },
      { rows: [1, 2], column: column(b) },
    ];
    expect(mergeColumns(pieces([[5, 5, 5, 5]], [[6, 6, 6, 6, 6]]), 2)).toMatchObject({
      kind: "row",
      width: 5,
      responseLengths: Int32Array.of(4, 5),
      values: Float32Array.of(5, 6),
    });
    expect(mergeColumns(pieces([[0, 0, 0, 9]], [[0, 0, 8]]), 2)).toMatchObject({ kind: "last" });
    expect(mergeColumns(pieces([[5, 5, 5, 5]], [[0, 0, 8]]), 2)).toMatchObject({
      kind: "jagged",
      offsets: Int32Array.of(0, 4, 7),
      values: Float32Array.of(5, 5, 5, 5, 0, 0, 8),
    });
  });

  it("joins string tables", () => {
    const pieces = [
      { rows: [1, 3], column: column(["b", "c"], "uid") },
      { rows: [0, 1, 3, 4], column: column(["a", "b"], "uid") },
    ];
    expect(mergeColumns(pieces, 4)).toEqual({
      kind: "strings",
      rows: 4,
      table: ["a", "b", "c"],
      index: Int32Array.of(0, 1, 2, 1),
    });
  });

  it("makes f64 of different dtypes", () => {
    const i64 = { data: BigInt64Array.of(2n ** 53n), shape: [1] };
    const second: Column = {
      kind: "vector",
      dtype: "i64",
      rows: 1,
      values: Float64Array.from(i64.data, Number),
    };
    const merged = mergeColumns(
      [
        { rows: [0, 1], column: column([0.5]) },
        { rows: [1, 2], column: second },
      ],
      2,
    );
    expect(merged).toEqual({ kind: "vector", dtype: "f64", rows: 2, values: Float64Array.of(0.5, 2 ** 53) });
  });

  it("refuses what is not one column", () => {
    const vector = { rows: [0, 1], column: column([1]) };
    const code = (pieces: { rows: number[]; column: Column }[], total = 2) =>
      thrown(() => mergeColumns(pieces, total)).code;
    expect(code([vector])).toBe("DECODE");
    expect(code([vector, vector])).toBe("DECODE");
    expect(code([])).toBe("DECODE");
    expect(code([], 0)).toBe("DECODE");
    expect(code([vector, { rows: [1, 3], column: column([1]) }], 3)).toBe("DECODE");
    expect(code([vector, { rows: [1, 2], column: column(["a"]) }])).toBe("DECODE");
    expect(code([vector, { rows: [1, 2], column: column([[1]]) }])).toBe("DECODE");
  });
});
