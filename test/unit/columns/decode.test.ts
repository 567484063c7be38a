import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bytesOf } from "../../../src/columns/bytes.js";
import { decodeColumn, decodeColumns } from "../../../src/columns/decode.js";
import { encodeColumns } from "../../../src/columns/encode.js";
import { layoutOf } from "../../../src/columns/layout.js";
import { DEFAULT_LIMITS } from "../../../src/columns/limits.js";
import type { ColumnHeader } from "../../../src/columns/tensor.js";
import { DataflexError } from "../../../src/errors.js";
import { densify } from "../../helpers/densify.js";
import { caseArb, fieldsOf } from "./arbitraries.js";
import { thrown } from "./thrown.js";

const i32 = (...values: number[]): Uint8Array => bytesOf(Int32Array.from(values));
const f32 = (...values: number[]): Uint8Array => bytesOf(Float32Array.from(values));

/** A column of hand-made parts. */
function decode(header: object, parts: Record<string, Uint8Array>, name = "x") {
  const places: Record<string, [number, number]> = {};
  let at = 0;
  for (const [part, bytes] of Object.entries(parts)) {
    places[part] = [at, bytes.length];
    at += Math.ceil(bytes.length / 8) * 8;
  }
  const full = { name, parts: places, ...header } as unknown as ColumnHeader;
  return decodeColumn(full, (part) => parts[part]!, DEFAULT_LIMITS);
}

const matrix = (enc: string, rows: number, width: number, dtype = "f32") => ({
  enc,
  dtype,
  shape: [rows, width],
  scope: "mask",
});

describe("a malformed column", () => {
  it.each<[string, object, Record<string, Uint8Array>, RegExp]>([
    ["an unknown encoding", matrix("zip", 1, 1), {}, /encoding "zip" is unknown/],
    ["an encoding named like a method", matrix("toString", 1, 1), {}, /is unknown/],
    ["an unknown dtype", matrix("row", 1, 1, "f8"), { values: f32(1) }, /dtype "f8" is unknown/],
    ["no dtype", { ...matrix("row", 1, 1), dtype: undefined }, { values: f32(1) }, /dtype undefined/],
    ["a dtype for strings", { enc: "strings", dtype: "u8", shape: [0], distinct: 0 }, {}, /given for strings/],
    ["no shape", { enc: "dense", dtype: "f32" }, { values: f32(1) }, /shape is not/],
    ["three dimensions", { enc: "dense", dtype: "f32", shape: [1, 1, 1] }, { values: f32(1) }, /shape is not/],
    ["half a row", matrix("row", 0.5, 1), { values: f32(1) }, /rows is 0.5/],
    ["minus one row", matrix("row", -1, 1), { values: f32(1) }, /rows is -1/],
    ["more rows than the limit", matrix("row", 2 ** 21, 1), { values: f32(1) }, /the limit is 1048576/],
    ["more width than the limit", matrix("row", 1, 2 ** 31), { values: f32(1) }, /the limit is 1048576/],
    ["an unknown scope", { ...matrix("row", 1, 1), scope: "all" }, { values: f32(1) }, /scope "all"/],
    ["a vector with a scope", { enc: "dense", dtype: "f32", shape: [1], scope: "mask" }, { values: f32(1) }, /scope/],
    ["a vector encoded as rows", { enc: "row", dtype: "f32", shape: [1] }, { values: f32(1) }, /does not fit/],
    ["a matrix of strings", { enc: "strings", shape: [1, 1], distinct: 1 }, {}, /does not fit/],
    ["a missing part", matrix("row", 1, 1), {}, /part "values" is missing/],
    ["an unknown part", matrix("row", 1, 1), { values: f32(1), more: f32(1) }, /no part "more"/],
    ["a part too short", matrix("dense", 2, 2), { values: f32(1, 2, 3) }, /12 bytes, dense of this shape needs 16/],
    ["a part too long", matrix("dense", 1, 1), { values: f32(1, 2) }, /8 bytes, dense of this shape needs 4/],
    ["bytes that are no whole elements", matrix("dense", 1, 1), { values: Uint8Array.of(1, 2, 3) }, /needs 4/],
    ["a negative length", matrix("jagged", 2, 4), { lengths: i32(-1, 1), values: f32() }, /-1 in row 0/],
    ["a length beyond the width", matrix("jagged", 2, 4), { lengths: i32(1, 5), values: f32() }, /5 in row 1/],
    ["lengths that do not fit the values", matrix("jagged", 1, 4), { lengths: i32(3), values: f32(1) }, /needs 12/],
    ["a mask length beyond the width", matrix("lengths", 1, 4), { lengths: i32(5) }, /outside \[0, 4\]/],
    [
      "response lengths in scope mask",
      matrix("row", 1, 4),
      { lengths: i32(1), values: f32(1) },
      /belongs to scope "response"/,
    ],
    ["a count beyond the width", matrix("sparse", 1, 2), { counts: i32(3), index: i32(), values: f32() }, /3 in row 0/],
    [
      "indices out of order",
      matrix("sparse", 1, 4),
      { counts: i32(2), index: i32(2, 1), values: f32(1, 2) },
      /index 1 in row 0/,
    ],
    [
      "an index twice",
      matrix("sparse", 1, 4),
      { counts: i32(2), index: i32(2, 2), values: f32(1, 2) },
      /index 2 in row 0/,
    ],
    [
      "an index out of range",
      matrix("sparse", 2, 4),
      { counts: i32(0, 1), index: i32(4), values: f32(1) },
      /index 4 in row 1/,
    ],
    ["a negative index", matrix("sparse", 1, 4), { counts: i32(1), index: i32(-1), values: f32(1) }, /index -1/],
    ["an empty run", matrix("runs", 1, 4), { counts: i32(1), bounds: i32(2, 2) }, /run \[2, 2\) in row 0/],
    ["runs that touch", matrix("runs", 1, 4), { counts: i32(2), bounds: i32(0, 1, 1, 2) }, /run \[1, 2\) in row 0/],
    ["runs out of order", matrix("runs", 1, 4), { counts: i32(2), bounds: i32(2, 3, 0, 1) }, /run \[0, 1\) in row 0/],
    ["a run beyond the width", matrix("runs", 1, 4), { counts: i32(1), bounds: i32(2, 5) }, /run \[2, 5\) in row 0/],
    ["a bool of 2", matrix("dense", 1, 2, "bool"), { values: Uint8Array.of(1, 2) }, /row 0, column 1 is 2/],
    [
      "an i64 beyond 2^53",
      matrix("dense", 2, 2, "i64"),
      { values: bytesOf(BigInt64Array.of(0n, 0n, 0n, 2n ** 53n + 1n)) },
      /9007199254740993 in row 1, column 1/,
    ],
    [
      "an i64 below -2^53",
      matrix("jagged", 2, 2, "i64"),
      { lengths: i32(1, 1), values: bytesOf(BigInt64Array.of(0n, -(2n ** 53n) - 1n)) },
      /-9007199254740993 in row 1, column 0/,
    ],
  ])("with %s is a DECODE error that says so", (_what, header, parts, why) => {
    const error = thrown(() => decode(header, parts));
    expect(error.code).toBe("DECODE");
    expect(error.message).toMatch(why);
    expect(error.details.field).toBe("x");
  });

  it.each<[string, object, Record<string, Uint8Array>, RegExp]>([
    ["a size below zero", {}, { sizes: i32(-1), table: i32(), index: i32(0, 0) }, /string of -1 bytes/],
    ["a string too long", {}, { sizes: i32(2000), table: i32(), index: i32(0, 0) }, /the limit is 1024/],
    ["a table too short", {}, { sizes: i32(2), table: Buffer.from("a"), index: i32(0, 0) }, /needs 2/],
    ["an index beyond the table", {}, { sizes: i32(1), table: Buffer.from("a"), index: i32(0, 1) }, /1 in row 1/],
    ["invalid UTF-8", {}, { sizes: i32(1), table: Uint8Array.of(0xff), index: i32(0, 0) }, /not valid UTF-8/],
    ["more distinct strings than rows", { distinct: 3 }, { sizes: i32(), table: i32(), index: i32() }, /distinct is 3/],
    [
      "a string twice",
      { distinct: 2 },
      { sizes: i32(1, 1), table: Buffer.from("aa"), index: i32(0, 1) },
      /holds a string twice/,
    ],
  ])("of strings with %s is one too", (_what, more, parts, why) => {
    const error = thrown(() => decode({ enc: "strings", shape: [2], distinct: 1, ...more }, parts, "uid"));
    expect(error.code).toBe("DECODE");
    expect(error.message).toMatch(why);
  });

  it.each(["row", "last", "sparse"])("that is a mask and %s is one too", (enc) => {
    const parts = enc === "sparse" ? { counts: i32(0), index: i32(), values: f32() } : { values: f32(1) };
    expect(thrown(() => decode(matrix(enc, 1, 1), parts, "response_mask")).code).toBe("DECODE");
  });

  it("that is a mask with another value is one too", () => {
    const error = thrown(() => decode(matrix("dense", 1, 2), { values: f32(1, 0.5) }, "response_mask"));
    expect(error.details).toEqual({ field: "response_mask", row: 0, column: 1 });
  });

  it("whose header is no header at all is one too", () => {
    for (const header of [null, 7, "x", [], {}, { name: "__proto__" }, { name: "x", enc: "row", parts: 1 }]) {
      const run = () => decodeColumn(header as unknown as ColumnHeader, () => new Uint8Array(), DEFAULT_LIMITS);
      expect(thrown(run).code).toBe("DECODE");
    }
  });
});

describe("a body", () => {
  const header = (parts: object, name = "x") => ({ name, ...matrix("row", 1, 1), parts }) as unknown as ColumnHeader;
  it.each<[string, ColumnHeader[], RegExp]>([
    ["a part behind its end", [header({ values: [8, 4] })], /ends at 12, the body has 8/],
    ["a part off the alignment", [header({ values: [4, 4] })], /multiple of 8/],
    ["a place that is none", [header({ values: [0] })], /not \[offset, length\]/],
    ["a place with a negative offset", [header({ values: [-8, 4] })], /not a size/],
    ["a column twice", [header({ values: [0, 4] }), header({ values: [0, 4] })], /there twice/],
    [
      "parts over each other",
      [header({ values: [0, 4] }), header({ values: [0, 4] }, "y"), header({ values: [0, 4] }, "z")],
      /more bytes than the body/,
    ],
  ])("with %s is refused", (_what, headers, why) => {
    const error = thrown(() => decodeColumns(headers, new Uint8Array(8), DEFAULT_LIMITS));
    expect(error.code).toBe("DECODE");
    expect(error.message).toMatch(why);
  });

  it("is refused above its limit", () => {
    const limits = { ...DEFAULT_LIMITS, max_put_bytes: 7 };
    expect(thrown(() => decodeColumns([], new Uint8Array(8), limits)).message).toContain("the limit is 7");
  });
});

describe("values", () => {
  it("lie in the part where its address allows and are copied where not", () => {
    const body = new Uint8Array(17);
    const aligned = body.subarray(0, 8);
    const shifted = body.subarray(1, 9);
    const header = { enc: "dense", dtype: "f32", shape: [2] };
    const read = (values: Uint8Array) => (decode(header, { values }) as { values: Float32Array }).values;
    expect(read(aligned).buffer).toBe(body.buffer);
    expect(read(shifted).buffer).not.toBe(body.buffer);
    expect([...read(Buffer.from(f32(1, 2)))]).toEqual([1, 2]);
  });

  it("of i64 reach ±2^53", () => {
    const values = bytesOf(BigInt64Array.of(2n ** 53n, -(2n ** 53n), -1n, (1n << 32n) - 1n));
    const column = decode({ enc: "dense", dtype: "i64", shape: [4] }, { values });
    expect(column).toMatchObject({ values: Float64Array.of(2 ** 53, -(2 ** 53), -1, 2 ** 32 - 1) });
  });

  it("of bf16 are read as bf16", () => {
    const values = Uint8Array.of(0x80, 0x3f, 0x20, 0xc0, 0x49, 0x40);
    const column = decode({ enc: "dense", dtype: "bf16", shape: [3] }, { values });
    expect(column).toMatchObject({ dtype: "bf16", values: Float32Array.of(1, -2.5, 3.140625) });
  });
});

describe("densify", () => {
  it("refuses a tensor above the limit before it is allocated", () => {
    const column = decode(matrix("lengths", 2, 2 ** 20), { lengths: i32(1, 1) });
    if (column.kind !== "lengths") throw new Error(column.kind);
    const layout = { rows: 2, width: 2 ** 20, mask: column };
    expect(thrown(() => densify(column, layout, { ...DEFAULT_LIMITS, max_put_bytes: 2 ** 20 })).code).toBe("LIMIT");
  });

  it("refuses jagged tokens that are not the mask's, and another number of rows", () => {
    const column = decode(matrix("jagged", 1, 4), { lengths: i32(2), values: f32(1, 2) });
    const mask = decode(matrix("lengths", 1, 4), { lengths: i32(3) });
    if (column.kind !== "jagged" || mask.kind !== "lengths") throw new Error("kinds");
    expect(thrown(() => densify(column, { rows: 1, width: 4, mask })).code).toBe("DECODE");
    expect(thrown(() => densify(column, { rows: 2, width: 4, mask })).code).toBe("DECODE");
    expect(thrown(() => densify(column, { rows: 1, width: 4 })).code).toBe("INVALID_INPUT");
  });
});

describe("hostile bytes", () => {
  /** Valid columns of a random case, then one thing changed at random. */
  it("end in a DECODE error or in a column, never otherwise", () => {
    fc.assert(
      fc.property(
        caseArb,
        fc.nat(),
        fc.nat(),
        fc.constantFrom("flip", "cut", "shape", "part", "enc"),
        (c, a, b, how) => {
          const fields = fieldsOf(c);
          const layout = layoutOf(fields, { rows: c.rows, ...(c.lengthsKnown ? { lengths: c.lengths } : {}) });
          const { columns, parts } = encodeColumns(fields, { scopes: { x: c.scope }, layout });
          let body: Uint8Array = Buffer.concat(parts);
          const headers = structuredClone(columns) as unknown as Record<string, unknown>[];
          const target = headers[a % headers.length]!;
          const at = a % Math.max(body.length, 1);
          if (how === "flip" && body.length > 0) body.set([body[at]! ^ (1 << (b % 8))], at);
          if (how === "cut") body = body.subarray(0, body.length - 1 - (a % 16));
          if (how === "shape")
            target.shape = [c.rows + (a % 3) - 1, (b % 2 === 0 ? 1 : 0xffffffff) * c.width + (b % 5)];
          if (how === "enc")
            target.enc = ["dense", "jagged", "row", "last", "sparse", "lengths", "runs", "strings"][b % 8];
          if (how === "part") {
            const places = Object.values(target.parts as Record<string, [number, number]>);
            const place = places[a % places.length]!;
            place[b % 2 === 0 ? 0 : 1] += [8, -8, 1, -1, 2 ** 32, 2 ** 53][b % 6]!;
          }
          try {
            const decoded = decodeColumns(headers as unknown as ColumnHeader[], body, DEFAULT_LIMITS);
            expect(decoded.size).toBe(2);
          } catch (error) {
            expect(error).toBeInstanceOf(DataflexError);
            expect((error as DataflexError).code).toBe("DECODE");
          }
        },
      ),
      { numRuns: 4000 },
    );
  });

  it("that are plain noise as a header do too", () => {
    fc.assert(
      fc.property(fc.anything(), fc.uint8Array(), (header, body) => {
        try {
          decodeColumns([header as ColumnHeader], body, DEFAULT_LIMITS);
        } catch (error) {
          expect(error).toBeInstanceOf(DataflexError);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it("cannot make a small body into large memory", () => {
    const before = process.memoryUsage();
    const big = { ...matrix("lengths", 2 ** 20, 2 ** 20), name: "x", parts: { lengths: [0, 2 ** 22] } };
    const sparse = {
      ...matrix("sparse", 2, 2 ** 20),
      name: "x",
      parts: { counts: [0, 8], index: [8, 0], values: [8, 0] },
    };
    const body = bytesOf(Int32Array.of(2 ** 20, 2 ** 20));
    for (const header of [big, sparse]) {
      expect(thrown(() => decodeColumns([header as unknown as ColumnHeader], body, DEFAULT_LIMITS)).code).toBe(
        "DECODE",
      );
    }
    const after = process.memoryUsage();
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(1 << 20);
  });
});
