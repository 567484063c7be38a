import fc from "fast-check";
import { bitsOf, bytesOf } from "../../../src/columns/bytes.js";
import { DTYPE_ARRAYS, DTYPE_BYTES, DTYPES, type DType, type TypedArray } from "../../../src/columns/dtypes.js";
import type { FieldValue, Jagged, Scope, Tensor } from "../../../src/columns/tensor.js";

/** Words that are easy to lose, per dtype: zeros of both signs, infinities, quiet and signalling NaNs with payloads, extremes. */
export const SPECIAL: Readonly<Record<DType, readonly (number | bigint)[]>> = {
  f32: [0, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7fa00001, 0xffc12345, 1, 0x3f800000, 0x7f7fffff],
  f64: [0n, 1n << 63n, 0x7ff0000000000000n, 0x7ff8000000000001n, 0x7ff0000000000badn, 0x3ff0000000000000n, 1n],
  f16: [0, 0x8000, 0x7c00, 0xfc00, 0x7e00, 0x7d01, 0xfe55, 1, 0x3c00, 0x7bff],
  bf16: [0, 0x8000, 0x7f80, 0xff80, 0x7fc0, 0x7f81, 0xffd5, 1, 0x3f80, 0x7f7f],
  i8: [0, 1, 0x7f, 0x80, 0xff],
  u8: [0, 1, 0x7f, 0x80, 0xff],
  i32: [0, 1, 0x7fffffff, 0x80000000, 0xffffffff],
  i64: [0n, 1n, -1n, 1n << 53n, -(1n << 53n), (1n << 32n) + 5n, -(1n << 32n) - 7n],
  bool: [0, 1],
};

export const dtypeArb = fc.constantFrom(...DTYPES);

/** An array of `dtype` from words. */
export function arrayOfWords(dtype: DType, words: readonly (number | bigint)[]): TypedArray {
  const data = new DTYPE_ARRAYS[dtype](words.length);
  const bits = bitsOf(data);
  words.forEach((word, i) => {
    bits[i] = DTYPE_BYTES[dtype] === 8 ? BigInt.asIntN(64, BigInt(word)) : Number(word);
  });
  return data;
}

export interface Case {
  readonly dtype: DType;
  readonly rows: number;
  readonly width: number;
  /** 0/1, row-major. */
  readonly mask: readonly number[];
  readonly lengths: readonly number[];
  readonly lengthsKnown: boolean;
  readonly scope: Scope;
  readonly ragged: boolean;
  /** One word an element, row-major over the whole width. */
  readonly words: readonly (number | bigint)[];
}

/** Token matrices of every dtype, shape, scope, kind of mask and kind of content that an encoding exists for. */
export const caseArb: fc.Arbitrary<Case> = fc
  .record({
    dtype: dtypeArb,
    rows: fc.integer({ min: 0, max: 7 }),
    width: fc.oneof(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 24, max: 70 })),
    maskKind: fc.constantFrom("prefix", "holes", "ones", "zeros", "comb"),
    content: fc.constantFrom("any", "row", "last", "sparse", "zero"),
    scope: fc.constantFrom<Scope>("mask", "response"),
    lengthsKnown: fc.boolean(),
    ragged: fc.boolean(),
    seed: fc.infiniteStream(fc.nat({ max: 0x7fffffff })),
  })
  .map(({ dtype, rows, width, maskKind, content, scope, lengthsKnown, ragged, seed }) => {
    const draw = (below: number): number => (below <= 0 ? 0 : seed.next().value! % below);
    const word = (): number | bigint => SPECIAL[dtype][draw(SPECIAL[dtype].length)]!;
    const known = lengthsKnown || ragged;
    const lengths = Array.from({ length: rows }, () => (known ? draw(width + 1) : width));
    const mask = lengths.flatMap((length) => {
      const prefix = draw(length + 1);
      return Array.from({ length: width }, (_, j) => {
        if (j >= length || maskKind === "zeros") return 0;
        if (maskKind === "prefix") return j < prefix ? 1 : 0;
        if (maskKind === "comb") return j % 2;
        return maskKind === "ones" ? 1 : draw(2);
      });
    });
    const words = lengths.flatMap((length, i) => {
      const inScope = Array.from({ length: width }, (_, j) =>
        scope === "mask" ? mask[i * width + j] === 1 : j < length,
      );
      const last = inScope.lastIndexOf(true);
      const value = word();
      return inScope.map((inside, j) => {
        if (!inside || content === "any") return word();
        if (content === "row") return value;
        if (content === "last") return j === last ? value : 0;
        return content === "sparse" && draw(8) === 0 ? value : 0;
      });
    });
    return { dtype, rows, width, mask, lengths, lengthsKnown: known, scope, ragged, words };
  });

/** The word of 1. */
const ONE: Readonly<Record<DType, number | bigint>> = {
  f32: 0x3f800000,
  f64: 0x3ff0000000000000n,
  f16: 0x3c00,
  bf16: 0x3f80,
  i8: 1,
  u8: 1,
  i32: 1,
  i64: 1,
  bool: 1,
};

/** The fields of a case: `x` and `response_mask` (its dtype goes with the case, so that all are met). */
export function fieldsOf(c: Case): Record<string, FieldValue> {
  const ones = arrayOfWords(
    c.dtype,
    c.mask.map((one) => one * Number(ONE[c.dtype])),
  );
  return { x: matrix(c, arrayOfWords(c.dtype, c.words)), response_mask: matrix(c, ones) };
}

function matrix(c: Case, data: TypedArray): Tensor | Jagged {
  const { dtype, rows, width } = c;
  if (!c.ragged) return { kind: "tensor", dtype, shape: [rows, width], data };
  const lengths = Int32Array.from(c.lengths);
  const out = new DTYPE_ARRAYS[dtype](lengths.reduce((a, b) => a + b, 0));
  let at = 0;
  for (let i = 0; i < rows; i++) {
    bitsOf(out).set(bitsOf(data).subarray(i * width, i * width + lengths[i]!), at);
    at += lengths[i]!;
  }
  return { kind: "jagged", dtype, lengths, width, data: out };
}

/** What must come back: the bits in scope, zero elsewhere. */
export function expectedBytes(c: Case): Uint8Array {
  const inside = (i: number, j: number): boolean =>
    c.scope === "mask" ? c.mask[i * c.width + j] === 1 : j < c.lengths[i]!;
  const words = c.words.map((word, k) => (inside(Math.floor(k / c.width), k % c.width) ? word : 0));
  return bytesOf(arrayOfWords(c.dtype, words));
}
