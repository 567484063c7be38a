import { bitsOf } from "../../src/columns/bytes.js";
import { DTYPE_ARRAYS, DTYPE_BYTES, type DType, type TypedArray } from "../../src/columns/dtypes.js";
import { narrowHalf, widenHalf } from "../../src/columns/half.js";
import type { ColumnHeader, Scope } from "../../src/columns/tensor.js";

/** How golden vectors write values; `test/vectors/README.md` says the same in prose. */
export type JsonValue = number | string | boolean;

export interface ColumnsVector {
  readonly kind: "columns";
  readonly about: string;
  readonly rows: number;
  readonly width: number;
  readonly lengths?: readonly number[];
  readonly fields: Readonly<Record<string, VectorField>>;
  readonly columns: readonly ColumnHeader[];
  readonly bytes: number;
  readonly hash: string;
}

export interface VectorField {
  /** `strings` for string columns. */
  readonly dtype: DType | "strings";
  readonly scope?: Scope;
  /** `(rows,)` values, or `(rows, width)` rows with 0 outside the scope. */
  readonly values: readonly JsonValue[] | readonly (readonly JsonValue[])[];
}

interface MessageVector {
  readonly kind: "message";
  readonly about: string;
  readonly value: unknown;
}

interface RefusedVector {
  readonly kind: "refused";
  readonly about: string;
}

export type Vector = ColumnsVector | MessageVector | RefusedVector;

const FLOATS: readonly DType[] = ["f32", "f64", "f16", "bf16"];
const NAMED: Readonly<Record<string, number>> = {
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  "-Infinity": Number.NEGATIVE_INFINITY,
  "-0": -0,
};

/** Elements of `dtype` from their JSON form. */
export function fromJson(dtype: DType, values: readonly JsonValue[]): TypedArray {
  const data = new DTYPE_ARRAYS[dtype](values.length);
  const bits = bitsOf(data);
  values.forEach((value, i) => {
    if (typeof value === "string" && value.startsWith("0x")) {
      bits[i] = DTYPE_BYTES[dtype] === 8 ? BigInt.asIntN(64, BigInt(value)) : Number(value);
    } else if (dtype === "i64") bits[i] = BigInt(value);
    else {
      const number = typeof value === "string" ? NAMED[value]! : Number(value);
      if (dtype === "f16" || dtype === "bf16") bits[i] = narrowHalf(Float32Array.of(number), dtype)[0]!;
      else (data as Float64Array)[i] = number;
    }
  });
  return data;
}

/** The JSON form of elements: a NaN other than the usual quiet one is written as its word. */
export function toJson(dtype: DType, data: TypedArray): JsonValue[] {
  if (dtype === "bool") return Array.from(data as Uint8Array, (value) => value === 1);
  if (dtype === "i64") return Array.from(data as BigInt64Array, String);
  const numbers = dtype === "f16" || dtype === "bf16" ? widenHalf(data as Uint16Array, dtype) : (data as Float64Array);
  const bits = bitsOf(data);
  const nan = bitsOf(fromJson(dtype, FLOATS.includes(dtype) ? ["NaN"] : [0]))[0];
  return Array.from(numbers, (value, i) => {
    if (Object.is(value, -0)) return "-0";
    if (!Number.isNaN(value)) return Number.isFinite(value) ? value : String(value);
    if (bits[i] === nan) return "NaN";
    const word = BigInt.asUintN(8 * DTYPE_BYTES[dtype], BigInt(bits[i]!));
    return `0x${word.toString(16).padStart(2 * DTYPE_BYTES[dtype], "0")}`;
  });
}

/** A message's value from JSON: `{"$float": text}` is a float, `{"$bin": hex}` bytes; the rest is what it looks like. */
export function messageFromJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(messageFromJson);
  if (typeof value !== "object" || value === null) return value;
  const tagged = value as { readonly $float?: string; readonly $bin?: string };
  if (tagged.$float !== undefined) return NAMED[tagged.$float] ?? Number(tagged.$float);
  if (tagged.$bin !== undefined) return Buffer.from(tagged.$bin, "hex");
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, messageFromJson(member)]));
}
