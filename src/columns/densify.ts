import { DataflexError } from "../errors.js";
import { bitsOf, copyBits } from "./bytes.js";
import { DTYPE_ARRAYS, DTYPE_BYTES, type DType, type NumericArray, type TypedArray } from "./dtypes.js";
import { narrowHalf } from "./half.js";
import type { Limits } from "./limits.js";
import { DEFAULT_LIMITS } from "./limits.js";
import { paintRow } from "./paint-row.js";
import { type Spans, spansOf } from "./spans.js";
import type { Column, Layout, StringsColumn, Tensor } from "./tensor.js";

/** Every column that holds numbers. */
export type NumberColumn = Exclude<Column, StringsColumn>;
/** Every column with tokens. */
export type TokenColumn = Exclude<NumberColumn, { kind: "vector" }>;

/**
 * A column as a dense tensor `(rows,)` or `(rows, layout.width)` in the dtype that travelled: the original bits over the scope, +0
 * outside it.
 *
 * @throws DataflexError INVALID_INPUT: scope `mask` and no mask in the layout; DECODE: a jagged column whose tokens are not those of
 *   the layout, or other rows; LIMIT: a tensor above `limits.max_put_bytes`
 */
export function densify(column: NumberColumn, layout: Layout, limits: Limits = DEFAULT_LIMITS): Tensor {
  const { dtype, rows } = column;
  if (column.kind === "vector") {
    return { kind: "tensor", dtype, shape: [rows], data: travelling(column.values.slice(), dtype) };
  }
  const width = Math.max(layout.width, column.width);
  if (rows !== layout.rows) {
    throw new DataflexError("DECODE", `A column has ${rows} rows and its layout ${layout.rows}.`, { rows });
  }
  const bytes = rows * width * DTYPE_BYTES[dtype];
  if (bytes > limits.max_put_bytes) {
    const message = `A dense tensor of ${rows} × ${width} ${dtype} has ${bytes} bytes, the limit is ${limits.max_put_bytes}.`;
    throw new DataflexError("LIMIT", message, { bytes, limit: limits.max_put_bytes });
  }
  const values = plainArray(dtype, rows * width);
  const out = bitsOf(values);
  const spans = tokenSpans(column, layout);
  for (let row = 0; row < rows; row++) paintRow(column, spans, row, row, out, row * width);
  return { kind: "tensor", dtype, shape: [rows, width], data: travelling(values, dtype) };
}

/** The tokens of a column's scope, in a step that may be wider than the column. */
export function tokenSpans(column: TokenColumn, layout: Layout): Spans {
  const lengths = column.responseLengths ?? layout.lengths ?? new Int32Array(layout.rows).fill(column.width);
  const width = Math.max(layout.width, column.width);
  return spansOf(column.scope, { ...layout, width }, column.kind, lengths);
}

/** What a column's `values` are for a dtype: plain numbers. */
export function plainArray(dtype: DType, length: number): NumericArray {
  if (dtype === "f16" || dtype === "bf16") return new Float32Array(length);
  if (dtype === "i64") return new Float64Array(length);
  return new DTYPE_ARRAYS[dtype](length);
}

/** Plain numbers back in the dtype that travelled, exactly. */
function travelling(values: NumericArray, dtype: DType): TypedArray {
  if (dtype === "f16" || dtype === "bf16") return narrowHalf(values as Float32Array, dtype);
  if (dtype === "i64") return BigInt64Array.from(values as Float64Array, BigInt);
  return values;
}

/** The tokens in scope of one row, in their order, appended to `out` at `at`; answers where they end. */
export function gatherRow(
  column: TokenColumn,
  spans: Spans,
  row: number,
  spansRow: number,
  scratch: NumericArray,
  out: NumericArray,
  at: number,
): number {
  const bits = bitsOf(scratch);
  scratch.fill(0);
  paintRow(column, spans, row, spansRow, bits, 0);
  let end = at;
  for (let k = spans.offsets[spansRow]!; k < spans.offsets[spansRow + 1]!; k++) {
    const start = spans.bounds[2 * k]!;
    const stop = spans.bounds[2 * k + 1]!;
    copyBits(bits, start, stop, bitsOf(out), end);
    end += stop - start;
  }
  return end;
}
