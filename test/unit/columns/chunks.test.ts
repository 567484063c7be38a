import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bytesFromChunks, chunkSpan, chunksOf } from "../../../src/columns/chunks.js";
import type { ColumnHeader } from "../../../src/columns/tensor.js";
import { contentHash, putId } from "../../../src/protocol/put-id.js";
import { thrown } from "./thrown.js";

const partsArb = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 });
const sum = (parts: readonly Uint8Array[]): number => parts.reduce((bytes, part) => bytes + part.length, 0);

describe("chunks", () => {
  it("joined are the body, all but the last of the given size", () => {
    fc.assert(
      fc.property(partsArb, fc.integer({ min: 1, max: 50 }), (parts, size) => {
        const chunks = chunksOf(parts, sum(parts), size);
        expect(Buffer.concat(chunks)).toEqual(Buffer.concat(parts));
        expect(chunks.slice(0, -1).every((chunk) => chunk.length === size)).toBe(true);
        expect(chunks.length).toBe(Math.ceil(sum(parts) / size));
      }),
    );
  });

  it("are views where they lie in one part", () => {
    const part = new Uint8Array(100);
    expect(chunksOf([part], 100, 32).every((chunk) => chunk.buffer === part.buffer)).toBe(true);
  });

  it("give back any range of bytes, 8-aligned, from those that hold it", () => {
    fc.assert(
      fc.property(partsArb, fc.integer({ min: 1, max: 50 }), fc.nat(), fc.nat(), (parts, size, a, b) => {
        const body = Buffer.concat(parts);
        const offset = a % (body.length + 1);
        const length = b % (body.length - offset + 1);
        const [first, last] = chunkSpan(offset, length, size);
        const needed = chunksOf(parts, body.length, size)
          .map((chunk, i) => [i, chunk] as const)
          .filter(([i]) => i >= first && i <= last);
        const bytes = bytesFromChunks(new Map(needed), offset, length, size);
        expect(Buffer.from(bytes)).toEqual(body.subarray(offset, offset + length));
        expect(bytes.byteOffset % 8).toBe(0);
      }),
    );
  });

  it("that are missing or cut are named", () => {
    const chunks = new Map([
      [0, new Uint8Array(8)],
      [1, new Uint8Array(3)],
    ]);
    const read = (offset: number, length: number) => bytesFromChunks(chunks, offset, length, 8);
    expect(thrown(() => read(0, 16))).toMatchObject({ code: "CHUNKS_MISSING", details: { chunk: 1 } });
    expect(thrown(() => read(16, 8))).toMatchObject({ code: "CHUNKS_MISSING", details: { chunk: 2 } });
  });
});

describe("a put's id and content hash", () => {
  const header: ColumnHeader = {
    name: "x",
    enc: "row",
    dtype: "f32",
    shape: [2, 4],
    scope: "mask",
    parts: { values: [0, 8] },
  };

  it("do not depend on the order of fields or on where chunks are cut", () => {
    expect(putId("post_reward", ["b", "a"], [0, 8])).toBe(putId("post_reward", ["a", "b"], [0, 8]));
    const body = Buffer.from("0123456789");
    expect(contentHash([body], [header])).toBe(contentHash([body.subarray(0, 3), body.subarray(3)], [header]));
    expect(contentHash([body], [header])).toMatch(/^[0-9a-f]{32}$/);
  });

  it("depend on everything else", () => {
    const ids = [
      putId("post_reward", ["a", "b"], [0, 8]),
      putId("post_advantage", ["a", "b"], [0, 8]),
      putId("post_reward", ["a"], [0, 8]),
      putId("post_reward", ["ab"], [0, 8]),
      putId("post_reward", ["a", "b"], [0, 4]),
    ];
    expect(new Set(ids).size).toBe(ids.length);
    const body = [new Uint8Array(8)];
    const hashes = [
      contentHash(body, [header]),
      contentHash([new Uint8Array(8).fill(1)], [header]),
      contentHash(body, [{ ...header, dtype: "i32" }]),
      contentHash(body, [{ ...header, shape: [2, 8] }]),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
  });

  it("are these, in every language", () => {
    // SHA-256 of 93 ab "post_reward" 91 a1 "a" 92 00 08, computed with coreutils.
    expect(putId("post_reward", ["a"], [0, 8])).toBe("2cd1414cdf31f46402e0f076fc0a9e1c");
    expect(contentHash([], [])).toBe("9e076ceaf246b6003d9c2680a2b4cf0b");
  });
});
