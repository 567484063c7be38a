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

/** Bytes of one element on the wire and in its typed array. */
export const DTYPE_BYTES = {
  f32: 4,
  f64: 8,
  f16: 2,
  bf16: 2,
  i8: 1,
  u8: 1,
  i32: 4,
  i64: 8,
  bool: 1,
} as const satisfies Record<DType, number>;

/** The typed array that holds a dtype's elements as they travel (`f16` and `bf16` as 16-bit words). */
export const DTYPE_ARRAYS = {
  f32: Float32Array,
  f64: Float64Array,
  f16: Uint16Array,
  bf16: Uint16Array,
  i8: Int8Array,
  u8: Uint8Array,
  i32: Int32Array,
  i64: BigInt64Array,
  bool: Uint8Array,
} as const satisfies Record<DType, unknown>;

export function isDType(value: unknown): value is DType {
  return typeof value === "string" && (DTYPES as readonly string[]).includes(value);
}

/** What a column's `values` are for a dtype: plain numbers. */
export function plainArray(dtype: DType, length: number): NumericArray {
  if (dtype === "f16" || dtype === "bf16") return new Float32Array(length);
  if (dtype === "i64") return new Float64Array(length);
  return new DTYPE_ARRAYS[dtype](length);
}
