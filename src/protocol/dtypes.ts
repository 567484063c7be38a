/**
 * Element types of the wire format. All little-endian. `f16` and `bf16` are held as their 16-bit words; `bool` is one byte
 * 0 or 1; `i64` is limited to ±2^53 wherever it meets a JavaScript number.
 */
export const DTYPES = ["f32", "f64", "f16", "bf16", "i8", "u8", "i32", "i64", "bool"] as const;
export type DType = (typeof DTYPES)[number];

export type TypedArray =
  | Float32Array
  | Float64Array
  | Uint16Array
  | Int8Array
  | Uint8Array
  | Int32Array
  | BigInt64Array;

/** Arrays whose elements are plain numbers: what a decoded column holds. */
export type NumericArray = Float32Array | Float64Array | Int8Array | Uint8Array | Int32Array;
