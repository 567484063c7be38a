import type { DType, NumericArray, TypedArray } from "./dtypes.js";

/**
 * Which tokens of a token matrix matter. `mask`: only tokens whose `response_mask` is 1; the rest decode to 0.
 * `response`: every response token, tool tokens too. Encodings are lossless over the scope, bit for bit.
 */
export const SCOPES = ["mask", "response"] as const;
export type Scope = (typeof SCOPES)[number];

/** A dense row-major tensor, `(rows,)` or `(rows, width)`. */
export interface Tensor {
  readonly kind: "tensor";
  readonly dtype: DType;
  readonly shape: readonly [number] | readonly [number, number];
  readonly data: TypedArray;
}

/** A ragged token matrix: the response tokens of each row, row after row. `width` is the padded width it stands for. */
export interface Jagged {
  readonly kind: "jagged";
  readonly dtype: DType;
  readonly lengths: Int32Array;
  readonly width: number;
  readonly data: TypedArray;
}

/** A vector of numbers a row, `(rows, d)`, whose width has nothing to do with tokens. */
interface Features {
  readonly kind: "features";
  readonly dtype: DType;
  readonly shape: readonly [number, number];
  readonly data: TypedArray;
}

/** A column of strings, one a row. */
export interface Strings {
  readonly kind: "strings";
  readonly values: readonly string[];
}

/** What the encoder takes. */
export type FieldValue = Tensor | Jagged | Features | Strings;

export const ENCODINGS = ["dense", "jagged", "row", "last", "sparse", "lengths", "runs", "strings"] as const;
export type Encoding = (typeof ENCODINGS)[number];

/**
 * Decoded columns, still in their compact form: scoring works on these. `values` are plain numbers (f16 and bf16 widened to
 * Float32Array, i64 to Float64Array after the ±2^53 check, bool to 0/1), `dtype` is that of the encoded column.
 *
 * `offsets` has rows + 1 entries; row i owns `[offsets[i], offsets[i+1])`.
 */
export type Column =
  | VectorColumn
  | FeaturesColumn
  | DenseColumn
  | JaggedColumn
  | RowColumn
  | LastColumn
  | SparseColumn
  | LengthsColumn
  | RunsColumn
  | StringsColumn;
/** Every column that holds numbers. */
export type NumberColumn = Exclude<Column, StringsColumn>;
/** Every column that holds a number for each token. */
export type TokenColumn = Exclude<NumberColumn, VectorColumn | FeaturesColumn>;
export type MaskColumn = LengthsColumn | RunsColumn;

interface TokenColumnBase {
  readonly dtype: DType;
  readonly scope: Scope;
  readonly rows: number;
  readonly width: number;
  /**
   * Scope `response` only: how many tokens each row's response has. Absent: every row spans the whole width. (Masks never have it:
   * what follows their last one is 0 either way.)
   */
  readonly responseLengths?: Int32Array;
}
/** `(rows,)`: one number a row. */
export interface VectorColumn {
  readonly kind: "vector";
  readonly dtype: DType;
  readonly rows: number;
  readonly values: NumericArray;
}
/** `(rows, width)`: a vector of numbers a row, row after row; `width` is its own. */
export interface FeaturesColumn {
  readonly kind: "features";
  readonly dtype: DType;
  readonly rows: number;
  readonly width: number;
  readonly values: NumericArray;
}
/** `(rows, width)`, every element. */
export interface DenseColumn extends TokenColumnBase {
  readonly kind: "dense";
  readonly values: NumericArray;
}
/** The tokens in scope, row after row. */
export interface JaggedColumn extends TokenColumnBase {
  readonly kind: "jagged";
  readonly offsets: Int32Array;
  readonly values: NumericArray;
}
/** One value a row, constant over the row's tokens in scope. */
export interface RowColumn extends TokenColumnBase {
  readonly kind: "row";
  readonly values: NumericArray;
}
/** One value a row, at the row's last token in scope; +0 at the others. */
export interface LastColumn extends TokenColumnBase {
  readonly kind: "last";
  readonly values: NumericArray;
}
/** `index[k]` is the position of `values[k]` in its row (in the row of width `width`, not in the scope); +0 elsewhere. */
export interface SparseColumn extends TokenColumnBase {
  readonly kind: "sparse";
  readonly offsets: Int32Array;
  readonly index: Int32Array;
  readonly values: NumericArray;
}
/** A 0/1 matrix whose ones are a prefix of each row. */
export interface LengthsColumn extends TokenColumnBase {
  readonly kind: "lengths";
  readonly lengths: Int32Array;
}
/** A 0/1 matrix as runs of ones: row i has the half-open token ranges `[bounds[2k], bounds[2k+1])` for k in its offsets. */
export interface RunsColumn extends TokenColumnBase {
  readonly kind: "runs";
  readonly offsets: Int32Array;
  readonly bounds: Int32Array;
}
/** One string a row: `table[index[i]]`. */
export interface StringsColumn {
  readonly kind: "strings";
  readonly rows: number;
  readonly table: readonly string[];
  readonly index: Int32Array;
}

/**
 * Where the tokens of a step lie, needed to encode and to read token matrices. `mask` is the decoded `response_mask`
 * (kind `lengths` or `runs`), `lengths` the response lengths (jagged offsets, else the `lengths` argument; absent when unknown:
 * then a `response`-scoped row spans the whole width).
 */
export interface Layout {
  readonly rows: number;
  readonly width: number;
  readonly mask?: MaskColumn;
  readonly lengths?: Int32Array;
}

/**
 * Weights as they are delivered, float32: one per row, or one per token under mask 1, row after row (row i's are
 * `values[offsets[i] … offsets[i + 1])`). 0 for padding and fully masked rows.
 */
export type Weights = RowWeights | TokenWeights;
interface RowWeights {
  readonly kind: "row";
  readonly values: Float32Array;
}
export interface TokenWeights {
  readonly kind: "token";
  readonly offsets: Int32Array;
  readonly values: Float32Array;
}

/** Where one column is in the body of a put or a result. Offsets are in bytes from the body's start, multiples of 8. */
export interface ColumnHeader {
  readonly name: string;
  readonly enc: Encoding;
  /** Absent for strings. */
  readonly dtype?: DType;
  /** Logical shape: `[rows]` or `[rows, width]`. */
  readonly shape: readonly number[];
  /** Token matrices only. */
  readonly scope?: Scope;
  /** Part name → [byte offset, byte length]. docs/protocol.md says which parts an encoding has. */
  readonly parts: Readonly<Record<string, readonly [number, number]>>;
  /** Strings only: how many distinct strings the table holds. */
  readonly distinct?: number;
}
