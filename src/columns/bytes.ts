import { DTYPE_ARRAYS, DTYPE_BYTES, type DType, type TypedArray } from "./dtypes.js";

/** Parts start at multiples of this, so that a typed array of any dtype can look at them in place. */
export const ALIGNMENT = 8;

/** `bytes` rounded up to the alignment. */
export function padded(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
}

/** The bytes of a typed array, in place. */
export function bytesOf(data: ArrayBufferView): Uint8Array {
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}

/** `bytes` as elements of `dtype`: in place where the address allows, otherwise one copy. Length must be a whole number of elements. */
export function viewAs(bytes: Uint8Array, dtype: DType): TypedArray {
  const size = DTYPE_BYTES[dtype];
  const at = bytes.byteOffset % size === 0 ? bytes : new Uint8Array(bytes);
  return new DTYPE_ARRAYS[dtype](at.buffer as ArrayBuffer, at.byteOffset, at.byteLength / size);
}

/**
 * The bits of an array as integers of its element size. What is copied or compared this way keeps NaN payloads and -0, which a
 * JavaScript number on the way might not. A Bit is opaque: number or bigint by the element size.
 */
export type Bit = number | bigint;
export interface Bits {
  readonly length: number;
  [index: number]: Bit;
  set(from: Bits, at?: number): void;
  subarray(start: number, stop: number): Bits;
  fill(value: Bit, start?: number, stop?: number): Bits;
}

export function bitsOf(data: TypedArray): Bits {
  const { buffer, byteOffset, length } = data;
  return new BITS[data.BYTES_PER_ELEMENT as 1 | 2 | 4 | 8](
    buffer as ArrayBuffer,
    byteOffset,
    length,
  ) as unknown as Bits;
}

const BITS = { 1: Uint8Array, 2: Uint16Array, 4: Int32Array, 8: BigInt64Array } as const;

export function copyBits(from: Bits, start: number, stop: number, to: Bits, at: number): void {
  to.set(from.subarray(start, stop), at);
}
