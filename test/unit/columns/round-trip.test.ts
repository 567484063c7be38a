import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bytesOf, padded } from "../../../src/columns/bytes.js";
import { decodeColumns } from "../../../src/columns/decode.js";
import { DTYPE_BYTES } from "../../../src/columns/dtypes.js";
import { encodeColumns } from "../../../src/columns/encode.js";
import { layoutOf, layoutOfColumns } from "../../../src/columns/layout.js";
import { DEFAULT_LIMITS } from "../../../src/columns/limits.js";
import type { ColumnHeader, LengthsColumn, RunsColumn, Tensor } from "../../../src/columns/tensor.js";
import { pack, unpack } from "../../../src/protocol/codec.js";
import { densify } from "../../helpers/densify.js";
import { arrayOfWords, type Case, caseArb, dtypeArb, expectedBytes, fieldsOf, SPECIAL } from "./arbitraries.js";

function travel(c: Case) {
  const fields = fieldsOf(c);
  const layout = layoutOf(fields, { rows: c.rows, ...(c.lengthsKnown ? { lengths: c.lengths } : {}) });
  const encoded = encodeColumns(fields, { scopes: { x: c.scope }, layout });
  const headers = unpack(pack(encoded.columns)) as ColumnHeader[];
  const body = Buffer.concat(encoded.parts);
  const columns = decodeColumns(headers, body, DEFAULT_LIMITS);
  return { fields, layout, encoded, headers, body, columns };
}

describe("a token matrix", () => {
  it("comes back bit for bit over its scope, zero elsewhere, for every dtype, shape, scope and mask", () => {
    fc.assert(
      fc.property(caseArb, (c) => {
        const { columns } = travel(c);
        const x = columns.get("x")!;
        if (x.kind === "strings") throw new Error("not a matrix");
        const width = c.rows === 0 ? layoutOfColumns(columns, c.rows).width : c.width;
        const tensor = densify(x, layoutOfColumns(columns, c.rows));
        expect(tensor.shape).toEqual([c.rows, width]);
        expect(tensor.dtype).toBe(c.dtype);
        expect(Buffer.from(bytesOf(tensor.data)).toString("hex")).toBe(Buffer.from(expectedBytes(c)).toString("hex"));
      }),
      { numRuns: 3000 },
    );
  });

  it("meets every encoding in these tests", () => {
    const met = fc.sample(caseArb, { numRuns: 2000, seed: 7 }).flatMap((c) => {
      const [x, mask] = travel(c).headers as [ColumnHeader, ColumnHeader];
      return [`x ${x.enc} ${x.scope}`, `mask ${mask.enc}`];
    });
    const matrices = ["dense", "jagged", "row", "last", "sparse"];
    expect([...new Set(met)].sort()).toEqual(
      [
        ...matrices.flatMap((enc) => [`x ${enc} mask`, `x ${enc} response`]),
        ...["dense", "jagged", "lengths", "runs"].map((enc) => `mask ${enc}`),
      ].sort(),
    );
  });

  it("is never larger than dense, and its parts are aligned and make the body", () => {
    fc.assert(
      fc.property(caseArb, (c) => {
        const { encoded, body, headers } = travel(c);
        expect(body.length).toBe(encoded.bytes);
        for (const header of headers) {
          const places = Object.values(header.parts);
          for (const [offset] of places) expect(offset % 8).toBe(0);
          const used = places.reduce((sum, [, length]) => sum + padded(length), 0);
          // A dense matrix of scope response would have to carry the same response lengths.
          const lengths = header.name === "x" && header.scope === "response" ? header.parts.lengths : undefined;
          const dense = padded(c.rows * header.shape[1]! * DTYPE_BYTES[c.dtype]);
          expect(used).toBeLessThanOrEqual(dense + (lengths === undefined ? 0 : padded(lengths[1])));
        }
      }),
      { numRuns: 1500 },
    );
  });

  it("is the same bytes whatever lies outside its scope", () => {
    fc.assert(
      fc.property(caseArb, fc.nat(), (c, shift) => {
        const inside = expectedBytes({ ...c, words: c.words.map(() => (DTYPE_BYTES[c.dtype] === 8 ? -1n : 1)) });
        const size = DTYPE_BYTES[c.dtype];
        const other = SPECIAL[c.dtype][shift % SPECIAL[c.dtype].length]!;
        const words = c.words.map((word, k) => (inside[k * size] === 0 ? other : word));
        expect(Buffer.compare(travel({ ...c, words }).body, travel(c).body)).toBe(0);
      }),
      { numRuns: 1500 },
    );
  });

  it("brings its mask back as lengths or runs, always the same ones", () => {
    fc.assert(
      fc.property(caseArb, (c) => {
        const { columns, layout } = travel(c);
        const mask = columns.get("response_mask") as LengthsColumn | RunsColumn;
        const prefix = Array.from({ length: c.rows }, (_, i) => c.mask.slice(i * c.width, (i + 1) * c.width)).every(
          (row) => row.indexOf(0) < 0 || row.lastIndexOf(1) < row.indexOf(0),
        );
        expect(mask.kind).toBe(prefix ? "lengths" : "runs");
        const ones = densify({ ...mask, dtype: "u8" }, layout).data;
        expect([...ones]).toEqual(c.rows === 0 ? [] : c.mask);
      }),
      { numRuns: 1500 },
    );
  });

  it("keeps the response lengths where a scope of response needs them", () => {
    fc.assert(
      fc.property(
        caseArb.filter((c) => c.scope === "response" && c.lengthsKnown && c.rows > 0),
        (c) => {
          const { columns } = travel(c);
          const known = layoutOfColumns(columns, c.rows).lengths;
          expect(known === undefined ? c.lengths.map(() => c.width) : [...known]).toEqual(c.lengths);
        },
      ),
    );
  });
});

describe("a vector", () => {
  it("comes back bit for bit in every dtype", () => {
    fc.assert(
      fc.property(
        dtypeArb.chain((dtype) => fc.tuple(fc.constant(dtype), fc.array(fc.constantFrom(...SPECIAL[dtype])))),
        ([dtype, words]) => {
          const data = arrayOfWords(dtype, words);
          const v: Tensor = { kind: "tensor", dtype, shape: [words.length], data };
          const layout = layoutOf({ v }, { rows: words.length });
          const { columns, parts } = encodeColumns({ v }, { scopes: {}, layout });
          const column = decodeColumns(columns, Buffer.concat(parts), DEFAULT_LIMITS).get("v")!;
          if (column.kind !== "vector") throw new Error(column.kind);
          expect(bytesOf(densify(column, layout).data)).toEqual(bytesOf(data));
        },
      ),
    );
  });
});

describe("a string column", () => {
  it("comes back string for string", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("", "a", "\uFEFFb"))), (values) => {
        const uid = { kind: "strings", values } as const;
        const layout = layoutOf({ uid }, { rows: values.length });
        const { columns, parts } = encodeColumns({ uid }, { scopes: {}, layout });
        const column = decodeColumns(columns, Buffer.concat(parts), DEFAULT_LIMITS).get("uid")!;
        if (column.kind !== "strings") throw new Error(column.kind);
        expect([...column.index].map((at) => column.table[at])).toEqual(values);
        expect(column.table.length).toBe(new Set(values).size);
      }),
    );
  });
});
