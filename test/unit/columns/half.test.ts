import { describe, expect, it } from "vitest";
import { narrowHalf, widenHalf } from "../../../src/columns/half.js";

const ALL = Uint16Array.from({ length: 65536 }, (_, word) => word);

/** binary16 by its definition. */
function f16Value(word: number): number {
  const sign = word & 0x8000 ? -1 : 1;
  const exponent = (word >> 10) & 31;
  const fraction = word & 1023;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

const halfOf = (value: number, dtype: "f16" | "bf16") => narrowHalf(Float32Array.of(value), dtype)[0]!;

describe("16-bit floats", () => {
  it("widens every f16 word to its value", () => {
    const values = widenHalf(ALL, "f16");
    expect(ALL.filter((word) => !Object.is(values[word], f16Value(word)))).toEqual(new Uint16Array(0));
  });

  it("widens every bf16 word to the float32 whose upper half it is", () => {
    const bits = new Uint32Array(widenHalf(ALL, "bf16").buffer);
    expect(bits.every((value, word) => value === word * 65536)).toBe(true);
  });

  it.each(["f16", "bf16"] as const)("gives back every %s word, NaN payloads included", (dtype) => {
    expect(narrowHalf(widenHalf(ALL, dtype), dtype)).toEqual(ALL);
  });

  it("rounds to nearest, ties to even", () => {
    for (const dtype of ["f16", "bf16"] as const) {
      const values = widenHalf(ALL, dtype);
      const top = dtype === "f16" ? 0x7bff : 0x7f7f;
      for (let word = 0; word < top; word++) {
        const middle = (values[word]! + values[word + 1]!) / 2;
        // The middle of two neighbours is exact in float32, except among bf16's float32 subnormals.
        if (Math.fround(middle) !== middle) continue;
        expect(halfOf(middle, dtype)).toBe(word % 2 === 0 ? word : word + 1);
      }
    }
    expect(halfOf(65519, "f16")).toBe(0x7bff);
    expect(halfOf(65520, "f16")).toBe(0x7c00);
    expect(halfOf(-1e9, "f16")).toBe(0xfc00);
    expect(halfOf(2 ** -26, "f16")).toBe(0);
    expect(halfOf(3.4e38, "bf16")).toBe(0x7f80);
  });

  it("keeps a NaN a NaN when its payload does not fit", () => {
    const payload = new Float32Array(new Uint32Array([0x7f800001, 0xff800001]).buffer);
    expect([...narrowHalf(payload, "f16")]).toEqual([0x7e00, 0xfe00]);
    expect([...narrowHalf(payload, "bf16")]).toEqual([0x7fc0, 0xffc0]);
  });

  it("reads bf16 words as bf16: 80 3f 20 c0 49 40 is 1, -2.5, 3.140625", () => {
    const words = new Uint16Array(Uint8Array.of(0x80, 0x3f, 0x20, 0xc0, 0x49, 0x40).buffer);
    expect([...widenHalf(words, "bf16")]).toEqual([1, -2.5, 3.140625]);
  });
});
