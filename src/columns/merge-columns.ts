import { defined } from "../defined.js";
import { DataflexError } from "../errors.js";
import { bitsOf, copyBits } from "./bytes.js";
import { type DType, type NumericArray, plainArray } from "./dtypes.js";
import { mergeMasks, mergeStrings } from "./merge-compact.js";
import { type Piece, planMerge, type Source } from "./merge-plan.js";
import { gatherRow, tokenSpans } from "./paint-row.js";
import type { Column, FeaturesColumn, Layout, NumberColumn, TokenColumn } from "./tensor.js";

export type { Piece } from "./merge-plan.js";

/**
 * One column from several producers' pieces, each holding some of the rows. Pieces of one kind stay in that kind; token matrices of
 * different kinds become `jagged`, which needs to know where the tokens in scope are. Pieces of different dtypes become f64.
 *
 * @param pieces     row ranges and the column whose rows they are, in their order; together every row of `totalRows` once
 * @param totalRows  rows of the step
 * @param layout     of the whole step; needed when matrices of scope `mask` differ in kind
 * @throws DataflexError DECODE: rows missing or twice, pieces that are not of one kind (strings, vectors, masks, matrices of one scope);
 *   INVALID_INPUT when the layout's mask is needed and missing
 */
export function mergeColumns(pieces: readonly Piece[], totalRows: number, layout?: Layout): Column {
  const sources = planMerge(pieces, totalRows);
  const only = pieces[0];
  if (only === undefined) throw new DataflexError("DECODE", "There is no piece to make a column of.", { totalRows });
  if (pieces.length === 1) return only.column;
  const columns = pieces.map((piece) => piece.column);
  if (columns.every(isKind("strings"))) return mergeStrings(columns, sources);
  if (columns.every(isMask)) return mergeMasks(columns, sources);
  if (columns.every(isKind("vector"))) {
    const dtype = commonDType(columns);
    return { kind: "vector", dtype, rows: totalRows, values: perRow(columns, sources, dtype) };
  }
  if (columns.every(isKind("features"))) return mergeFeatures(columns, sources);
  if (columns.every(isMatrix)) return mergeMatrices(columns, sources, layout);
  const kinds = [...new Set(columns.map((column) => column.kind))].join(", ");
  throw new DataflexError("DECODE", `Producers sent one field as ${kinds}; these do not make one column.`, { kinds });
}

function mergeFeatures(columns: readonly FeaturesColumn[], sources: readonly Source[]): Column {
  const { width } = columns[0]!;
  const odd = columns.find((column) => column.width !== width);
  if (odd !== undefined) {
    const message = `Producers sent features of ${width} and of ${odd.width} numbers a row; these do not make one column.`;
    throw new DataflexError("DECODE", message, { widths: [width, odd.width] });
  }
  const dtype = commonDType(columns);
  const values = plainArray(dtype, sources.length * width);
  sources.forEach(({ piece, row }, i) => {
    const column = columns[piece]!;
    const own = column.values.subarray(row * width, (row + 1) * width);
    if (column.dtype === dtype) copyBits(bitsOf(own), 0, width, bitsOf(values), i * width);
    else values.set(own, i * width);
  });
  return { kind: "features", dtype, rows: sources.length, width, values };
}

type Matrix = Exclude<TokenColumn, { kind: "lengths" | "runs" }>;

function mergeMatrices(columns: readonly Matrix[], sources: readonly Source[], layout: Layout | undefined): Column {
  const [first] = columns as [Matrix];
  const { scope, kind } = first;
  if (columns.some((column) => column.scope !== scope)) {
    throw new DataflexError("DECODE", "Producers sent one field with different scopes; mount once and use its handle.");
  }
  const rows = sources.length;
  const width = columns.reduce((widest, column) => Math.max(widest, column.width), 0);
  const dtype = commonDType(columns);
  const lengths = scope === "response" ? mergeResponseLengths(columns, sources, width) : undefined;
  const base = { dtype, scope, rows, width, ...defined({ responseLengths: lengths }) };
  if (columns.every((column) => column.kind === kind)) {
    switch (kind) {
      case "row":
      case "last":
        return { kind, ...base, values: perRow(columns, sources, dtype) };
      case "jagged": {
        const { offsets, values } = perToken(columns as readonly Stored[], sources, dtype);
        return { kind, ...base, offsets, values };
      }
      case "sparse": {
        const { offsets, values, index } = perToken(columns as readonly Stored[], sources, dtype);
        return { kind, ...base, offsets, index, values };
      }
    }
  }
  const step: Layout = { ...(layout ?? { rows }), width };
  const spans = tokenSpans({ ...first, ...base } as Matrix, lengths === undefined ? step : { ...step, lengths });
  const offsets = new Int32Array(rows + 1);
  const values = plainArray(dtype, spans.total);
  const scratch = columns.map((column) => plainArray(column.dtype, width));
  sources.forEach(({ piece, row }, i) => {
    const column = columns[piece]!;
    offsets[i + 1] = offsets[i]! + spans.counts[i]!;
    if (column.dtype === dtype) gatherRow(column, spans, row, i, scratch[piece]!, values, offsets[i]!);
    else {
      const plain = plainArray(column.dtype, spans.counts[i]!);
      gatherRow(column, spans, row, i, scratch[piece]!, plain, 0);
      values.set(plain, offsets[i]!);
    }
  });
  return { kind: "jagged", ...base, offsets, values };
}

/** Absent when every piece spans the whole width in every row. */
function mergeResponseLengths(
  columns: readonly Matrix[],
  sources: readonly Source[],
  width: number,
): Int32Array | undefined {
  if (columns.every((column) => column.responseLengths === undefined && column.width === width)) return undefined;
  return Int32Array.from(sources, ({ piece, row }) => {
    const column = columns[piece]!;
    return column.responseLengths?.[row] ?? column.width;
  });
}

function perRow(columns: readonly NumberColumn[], sources: readonly Source[], dtype: DType): NumericArray {
  const out = plainArray(dtype, sources.length);
  const to = bitsOf(out);
  const arrays = columns.map((column) => ("values" in column ? column.values : new Float32Array(0)));
  const bits = arrays.map(bitsOf);
  sources.forEach(({ piece, row }, i) => {
    if (columns[piece]!.dtype === dtype) to[i] = bits[piece]![row]!;
    else out[i] = arrays[piece]![row]!;
  });
  return out;
}

interface Stored {
  readonly dtype: DType;
  readonly offsets: Int32Array;
  readonly values: NumericArray;
  readonly index?: Int32Array;
}

function perToken(
  columns: readonly Stored[],
  sources: readonly Source[],
  dtype: DType,
): { offsets: Int32Array; values: NumericArray; index: Int32Array } {
  const total = columns.reduce((sum, column) => sum + column.values.length, 0);
  const offsets = new Int32Array(sources.length + 1);
  const values = plainArray(dtype, total);
  const to = bitsOf(values);
  const index = new Int32Array(columns[0]?.index === undefined ? 0 : total);
  const bits = columns.map((column) => bitsOf(column.values));
  sources.forEach(({ piece, row }, i) => {
    const column = columns[piece]!;
    const [start, stop] = [column.offsets[row]!, column.offsets[row + 1]!];
    const at = offsets[i]!;
    if (column.dtype === dtype) copyBits(bits[piece]!, start, stop, to, at);
    else values.set(column.values.subarray(start, stop), at);
    if (column.index !== undefined) index.set(column.index.subarray(start, stop), at);
    offsets[i + 1] = at + stop - start;
  });
  return { offsets, values, index };
}

/** f64 holds every value of every dtype (i64 within ±2^53). */
function commonDType(columns: readonly { readonly dtype: DType }[]): DType {
  const dtype = columns[0]!.dtype;
  return columns.every((column) => column.dtype === dtype) ? dtype : "f64";
}

function isKind<K extends Column["kind"]>(kind: K) {
  return (column: Column): column is Extract<Column, { kind: K }> => column.kind === kind;
}

function isMask(column: Column): column is Extract<Column, { kind: "lengths" | "runs" }> {
  return column.kind === "lengths" || column.kind === "runs";
}

function isMatrix(column: Column): column is Matrix {
  return !isMask(column) && column.kind !== "vector" && column.kind !== "strings" && column.kind !== "features";
}
