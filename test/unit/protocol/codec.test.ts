import { deepStrictEqual } from "node:assert";
import fc from "fast-check";
import { Packr, Unpackr } from "msgpackr";
import { describe, expect, it } from "vitest";
import { DataflexError } from "../../../src/errors.js";
import { pack, unpack } from "../../../src/protocol/codec.js";
import { thrown } from "../columns/thrown.js";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const bytes = (text: string): Uint8Array => Buffer.from(text.replaceAll(" ", ""), "hex");

describe("numbers", () => {
  it.each([
    [0, "00"],
    [127, "7f"],
    [128, "cc80"],
    [255, "ccff"],
    [256, "cd0100"],
    [65536, "ce00010000"],
    [2 ** 32 - 1, "ceffffffff"],
    [2 ** 32, "cf0000000100000000"],
    [1795955573689, "cf000001a2274b43b9"],
    [2 ** 53, "cf0020000000000000"],
    [-1, "ff"],
    [-32, "e0"],
    [-33, "d0df"],
    [-128, "d080"],
    [-129, "d1ff7f"],
    [-32769, "d2ffff7fff"],
    [-(2 ** 31) - 1, "d3ffffffff7fffffff"],
    [-(2 ** 53), "d3ffe0000000000000"],
    [-0, "cb8000000000000000"],
    [0.5, "cb3fe0000000000000"],
    [Number.NaN, "cb7ff8000000000000"],
    [Number.POSITIVE_INFINITY, "cb7ff0000000000000"],
    [2 ** 53 + 2, "cb4340000000000001"],
  ])("%s is packed as %s and comes back as itself", (value, expected) => {
    expect(hex(pack(value))).toBe(expected);
    expect(unpack(pack(value))).toBe(value);
  });

  it("reads every 64-bit integer within ±2^53 as a Number and refuses others by name", () => {
    expect(unpack(bytes("82 a4 73746570 07 a5 74735f6d73 cf 000001a227f81234"))).toEqual({
      step: 7,
      ts_ms: 0x1a227f81234,
    });
    expect(unpack(bytes("d3 ffe0000000000000"))).toBe(-(2 ** 53));
    for (const beyond of ["cf 0020000000000001", "cf ffffffffffffffff", "d3 ffdfffffffffffff", "d3 8000000000000000"]) {
      expect(thrown(() => unpack(bytes(beyond)))).toMatchObject({
        code: "DECODE",
        message: expect.stringMatching(/beyond ±2\^53/),
      });
    }
  });
});

describe("messages", () => {
  it("are standard msgpack: a plain object is a plain map, both ways", () => {
    expect(hex(pack({ a: 1 }))).toBe("81a16101");
    expect(unpack(bytes("81a16101"))).toEqual({ a: 1 });
    expect(unpack(bytes("c4020102"))).toEqual(Buffer.of(1, 2));
  });

  const plain = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constant(null),
      fc.boolean(),
      fc.double(),
      fc.maxSafeInteger(),
      fc.string({ unit: "grapheme" }),
      fc.uint8Array().map((array) => Buffer.from(array)),
      fc.array(tie("value"), { maxLength: 20 }),
      fc.dictionary(
        fc.string({ unit: "grapheme" }).filter((key) => key !== "__proto__"),
        tie("value"),
      ),
    ),
  })).value;

  it("come back equal, whatever plain data they hold", () => {
    fc.assert(
      fc.property(plain, (value) => {
        expect(unpack(pack(value))).toEqual(value);
        // No state outside the message: equal values are equal bytes, in any order of packing.
        expect(pack(unpack(pack(value)))).toEqual(pack(value));
      }),
    );
  });

  it("are to msgpackr what they are here, written by either", () => {
    const options = { useRecords: false, mapsAsObjects: true, int64AsType: "number" } as const;
    const [writer, reader] = [new Packr(options), new Unpackr(options)];
    fc.assert(
      fc.property(plain, (value) => {
        expect(reader.unpack(pack(value))).toEqual(value);
        const theirs = writer.pack(value);
        expect(unpack(theirs)).toEqual(reader.unpack(theirs));
      }),
    );
  });

  it("hold every form of number and text that another writer may choose", () => {
    const reader = new Unpackr({ useRecords: false, mapsAsObjects: true, int64AsType: "number" });
    for (const form of [
      "ca 3fc00000",
      "ca 7f800000",
      "cb 7ff8000000000000",
      "cc 01",
      "cd 0001",
      "ce ffffffff",
      "d0 80",
      "d1 ffff",
      "d2 80000000",
      "d3 ffffffffffffffff",
      "cf 0000000000000001",
      "d9 01 61",
      "da 0002 c3a9",
      "db 00000001 61",
      "c5 0001 ff",
      "c6 00000001 ff",
      "dc 0001 c2",
      "dd 00000001 c3",
      "de 0001 d9 01 61 c0",
      "df 00000001 a1 61 90",
    ]) {
      expect(unpack(bytes(form))).toEqual(reader.unpack(bytes(form)));
    }
  });

  it("hold long strings, arrays and maps", () => {
    const value = {
      text: "é".repeat(40000),
      list: Array.from({ length: 70000 }, (_, i) => i),
      map: Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`k${i}`, i])),
      bin: Buffer.alloc(70000, 7),
    };
    deepStrictEqual(unpack(pack(value)), value); // quicker on long lists than expect
  });

  it.each([
    ["a Map", new Map([[0, 1]])],
    ["a Set", new Set([1])],
    ["a BigInt", 1n],
    ["undefined", undefined],
    ["a function", () => 1],
    ["a symbol", Symbol("x")],
    ["a Date", new Date(0)],
    ["a Float32Array", new Float32Array(1)],
    ["half a surrogate", "\ud800"],
  ])("refuse %s with its key path", (what, value) => {
    const error = thrown(() => pack({ meta: { list: [0, value] } }));
    expect(error.code).toBe("INVALID_INPUT");
    expect(error.message).toContain('"meta.list.1"');
    expect(error.message).toContain(what);
    expect(error.details).toEqual({ path: ["meta", "list", 1] });
  });

  it("refuse cycles, depth and __proto__ as a key", () => {
    const loop: Record<string, unknown> = {};
    loop.self = loop;
    expect(thrown(() => pack(loop))).toMatchObject({
      code: "INVALID_INPUT",
      message: expect.stringMatching(/deeper than 16/),
    });
    expect(thrown(() => pack(JSON.parse('{"__proto__": 1}')))).toMatchObject({ code: "INVALID_INPUT" });
    const proto = "81 a9 5f5f70726f746f5f5f 81 a1 78 01";
    expect(thrown(() => unpack(bytes(proto)))).toMatchObject({
      code: "DECODE",
      message: expect.stringMatching(/__proto__/),
    });
    expect(({} as Record<string, unknown>).x).toBeUndefined();
    let deep: unknown = 1;
    for (let i = 0; i < 15; i++) deep = [deep];
    expect(unpack(pack(deep))).toEqual(deep);
    expect(thrown(() => pack([deep])).code).toBe("INVALID_INPUT");
    expect(thrown(() => unpack(bytes(`${"91".repeat(16)}01`))).code).toBe("DECODE");
  });
});

describe("bytes that are no message", () => {
  it.each([
    ["empty", ""],
    ["a message cut short", "82 a1 61 01 a1"],
    ["two messages joined", "81a16101 81a16101"],
    ["an array header with four billion entries", "dd ffffffff 01"],
    ["a map header with four billion entries", "df ffffffff 01"],
    ["a string header with four billion bytes", "db ffffffff 61"],
    ["a bin header with four billion bytes", "c6 ffffffff 61"],
    ["a cut length", "da 00"],
    ["a cut float", "cb 3ff0"],
    ["the record extension of msgpackr", "d4 72 40 91 a1 61 01"],
    ["an ext 8", "c7 01 05 00"],
    ["an ext 32", "c9 ffffffff 05"],
    ["a timestamp extension", "d6 ff 00000000"],
    ["the unused code", "c1"],
    ["an integer key", "81 01 02"],
    ["a key given twice", "82 a161 01 a161 02"],
    ["invalid UTF-8", "a2 c328"],
    ["an invalid key", "81 a2 c328 01"],
  ])("%s is a DECODE error with an offset", (_what, text) => {
    const error = thrown(() => unpack(bytes(text)));
    expect(error.code).toBe("DECODE");
    expect(error.details).toHaveProperty("offset");
  });

  it("never end otherwise, whatever they are", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (random) => {
        try {
          unpack(random);
        } catch (error) {
          expect(error).toBeInstanceOf(DataflexError);
          expect((error as DataflexError).code).toBe("DECODE");
        }
      }),
      { numRuns: 5000 },
    );
  });

  it("are refused by their size before anything is read", () => {
    const limits = { maxBytes: 8, maxDepth: 3, maxStringBytes: 4 };
    expect(thrown(() => unpack(pack("x".repeat(9)), limits)).message).toContain("the limit is 8");
    expect(thrown(() => unpack(pack("xxxxx"), limits)).message).toContain("the limit is 4");
    expect(thrown(() => unpack(pack([[[1]]]), limits)).message).toContain("deeper than 3");
  });
});
