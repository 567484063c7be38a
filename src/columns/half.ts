/**
 * 16-bit floats as their words, to float32 and back. Everything happens on integer views of the bits: a JavaScript number would
 * lose NaN payloads. Widening is exact; narrowing rounds to nearest, ties to even, and is the exact inverse of widening.
 */

/** IEEE binary16 word → float32 bits. */
function f16ToBits(word: number): number {
  const sign = (word & 0x8000) << 16;
  const exponent = (word >>> 10) & 0x1f;
  const fraction = word & 0x3ff;
  if (exponent === 0x1f) return (sign | 0x7f800000 | (fraction << 13)) >>> 0;
  if (exponent !== 0) return (sign | ((exponent + 112) << 23) | (fraction << 13)) >>> 0;
  if (fraction === 0) return sign >>> 0;
  // A subnormal: shift the leading one out, every shift lowers the exponent by one.
  const shift = Math.clz32(fraction) - 21;
  return (sign | ((113 - shift) << 23) | (((fraction << shift) & 0x3ff) << 13)) >>> 0;
}

/** float32 bits → IEEE binary16 word. Beyond ±65504 (rounded) it is an infinity; a NaN stays a NaN. */
function bitsToF16(value: number): number {
  const sign = (value >>> 16) & 0x8000;
  const exponent = (value >>> 23) & 0xff;
  const fraction = value & 0x7fffff;
  if (exponent === 0xff) {
    const payload = fraction >>> 13;
    return sign | 0x7c00 | (fraction !== 0 && payload === 0 ? 0x200 : payload);
  }
  if (exponent > 142) return sign | 0x7c00;
  if (exponent < 102) return sign;
  if (exponent > 112) return sign | roundShift(((exponent - 112) << 23) | fraction, 13);
  return sign | roundShift(0x800000 | fraction, 126 - exponent);
}

/** float32 bits → bfloat16 word. */
function bitsToBf16(value: number): number {
  const high = value >>> 16;
  if ((value & 0x7fffffff) > 0x7f800000) return (high & 0x7f) === 0 ? high | 0x40 : high;
  return (high + (((value & 0xffff) + 0x7fff + (high & 1)) >>> 16)) & 0xffff;
}

/** `value >> shift`, to nearest, ties to even. A carry runs into the exponent, as it must. */
function roundShift(value: number, shift: number): number {
  const kept = value >>> shift;
  const rest = value & ((1 << shift) - 1);
  const half = 1 << (shift - 1);
  return rest > half || (rest === half && (kept & 1) === 1) ? kept + 1 : kept;
}

/** Words of `dtype` → float32 values, bit-exact (NaN payloads kept). */
export function widenHalf(words: Uint16Array, dtype: "f16" | "bf16"): Float32Array {
  const out = new Float32Array(words.length);
  const target = new Uint32Array(out.buffer);
  if (dtype === "bf16") for (let i = 0; i < words.length; i++) target[i] = words[i]! << 16;
  else for (let i = 0; i < words.length; i++) target[i] = f16ToBits(words[i]!);
  return out;
}

/** float32 values → words of `dtype`, rounding to nearest, ties to even. */
export function narrowHalf(values: Float32Array, dtype: "f16" | "bf16"): Uint16Array {
  const source = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const out = new Uint16Array(values.length);
  const narrow = dtype === "bf16" ? bitsToBf16 : bitsToF16;
  for (let i = 0; i < out.length; i++) out[i] = narrow(source[i]!);
  return out;
}
