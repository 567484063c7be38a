import { narrowHalf, widenHalf } from "../columns/half.js";
import type { Column, Layout, LengthsColumn, RunsColumn, Scope } from "../columns/tensor.js";
import { DataflexError } from "../errors.js";
import { type Batch, createBatch } from "../scoring/batch/batch.js";
import { usualScope } from "../scoring/components/needs.js";
import { type EncodeAs, encodeTokens } from "./encode-tokens.js";

/** `number[][]`: a token matrix, one list of response tokens a row; `number[]`: one number a row; `string[]`: one string a row. */
export type FakeField = readonly (readonly number[])[] | readonly number[] | readonly string[];

export type FakeDType = "f64" | "f32" | "bf16";

export interface FakeOptions {
  /** Rows that only fill the batch up. */
  readonly is_padding?: readonly boolean[];
  /** Padded width L; default: the longest row. */
  readonly width?: number;
  /** Encoding of the token matrices that it can express (others become jagged). Default jagged, the usual one. */
  readonly encode?: EncodeAs;
  /** Dtype of the numbers, which are rounded to it. Default f64, so that tests see no rounding of their own. */
  readonly dtype?: FakeDType;
  /** Scope of a field where it is not the usual one. */
  readonly scopes?: Readonly<Record<string, Scope>>;
}

/**
 * A batch from plain arrays, for tests: `fakeBatch({ rm_scores: [[0, 1], [0, 0, 1]], uid: ["a", "a"] })`. Without `response_mask` every
 * token counts. Numbers under mask 0 may be anything, NaN too.
 * @throws DataflexError INVALID_INPUT when the fields disagree about rows or tokens.
 */
export function fakeBatch(fields: Readonly<Record<string, FakeField>>, options: FakeOptions = {}): Batch {
  const matrices = Object.entries(fields).filter(
    (entry): entry is [string, number[][]] => isMatrix(entry[1]) && entry[0] !== "features",
  );
  const rows = Object.values(fields)[0]?.length ?? 0;
  const lengths = rowLengths(matrices, rows);
  const width = Math.max(options.width ?? 0, ...lengths);
  const mask = maskColumn(fields.response_mask as number[][] | undefined, lengths, width);
  const layout: Layout = { rows, width, mask, lengths };
  const columns = new Map<string, Column>();
  for (const [name, field] of Object.entries(fields)) {
    if (name === "response_mask") columns.set(name, mask);
    else if (name === "features" && isMatrix(field)) columns.set(name, asDType(featuresColumn(field), options.dtype));
    else if (isMatrix(field)) {
      const scope = options.scopes?.[name] ?? usualScope(name) ?? "mask";
      columns.set(name, asDType(encodeTokens(field, layout, scope, options.encode ?? "jagged"), options.dtype));
    } else columns.set(name, asDType(rowColumn(field as readonly number[] | readonly string[]), options.dtype));
  }
  const padding = options.is_padding;
  return createBatch({ layout, columns, ...(padding && { isPadding: Uint8Array.from(padding, Number) }) });
}

function featuresColumn(field: readonly (readonly number[])[]): Column {
  const width = field[0]?.length ?? 0;
  return { kind: "features", dtype: "f64", rows: field.length, width, values: Float64Array.from(field.flat()) };
}

/** As a column of that type would be decoded: plain numbers, in the array that the decoder would use. */
function asDType(column: Column, dtype: FakeDType = "f64"): Column {
  if (dtype === "f64" || !("values" in column)) return column;
  const values = Float32Array.from(column.values, (value) => roundTo(value, dtype));
  return { ...column, dtype, values };
}

/** The nearest number that the type can hold. */
export function roundTo(value: number, dtype: FakeDType): number {
  if (dtype === "f64") return value;
  if (dtype === "f32") return Math.fround(value);
  return widenHalf(narrowHalf(Float32Array.of(value), "bf16"), "bf16")[0]!;
}

function isMatrix(field: FakeField): field is readonly (readonly number[])[] {
  return Array.isArray(field[0]);
}

function rowLengths(matrices: readonly [string, number[][]][], rows: number): Int32Array {
  const lengths = new Int32Array(rows);
  const first = matrices[0];
  if (first === undefined) return lengths.fill(1);
  for (const [name, matrix] of matrices) {
    for (let i = 0; i < Math.max(rows, matrix.length); i++) {
      const have = matrix[i]?.length;
      const want = first[1][i]?.length;
      if (have !== want || i >= rows) {
        throw new DataflexError(
          "INVALID_INPUT",
          `row ${i}: field '${name}' has ${have ?? "no"} tokens, '${first[0]}' has ${want ?? "none"}; give every field the same rows`,
          { field: name, row: i },
        );
      }
      lengths[i] = have ?? 0;
    }
  }
  return lengths;
}

function maskColumn(mask: number[][] | undefined, lengths: Int32Array, width: number): LengthsColumn | RunsColumn {
  const base = { dtype: "bool", scope: "response", rows: lengths.length, width } as const;
  if (mask === undefined) return { ...base, kind: "lengths", lengths };
  const isPrefix = mask.every((row) => row.every((value, t) => value === 0 || t === 0 || row[t - 1] !== 0));
  if (isPrefix) {
    return {
      ...base,
      kind: "lengths",
      lengths: Int32Array.from(mask, (row) => row.filter((value) => value !== 0).length),
    };
  }
  const offsets = [0];
  const bounds: number[] = [];
  for (const row of mask) {
    row.forEach((value, t) => {
      if (value !== 0 && !row[t - 1]) bounds.push(t);
      if (value !== 0 && !row[t + 1]) bounds.push(t + 1);
    });
    offsets.push(bounds.length / 2);
  }
  return { ...base, kind: "runs", offsets: Int32Array.from(offsets), bounds: Int32Array.from(bounds) };
}

function rowColumn(field: readonly number[] | readonly string[]): Column {
  if (field.every((value): value is string => typeof value === "string")) {
    const table = [...new Set(field)];
    return {
      kind: "strings",
      rows: field.length,
      table,
      index: Int32Array.from(field, (value) => table.indexOf(value)),
    };
  }
  return { kind: "vector", dtype: "f64", rows: field.length, values: Float64Array.from(field as readonly number[]) };
}
