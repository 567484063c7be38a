import { bitsOf } from "../../src/columns/bytes.js";
import { DTYPE_BYTES, type DType, type NumericArray, plainArray, type TypedArray } from "../../src/columns/dtypes.js";
import { narrowHalf } from "../../src/columns/half.js";
import { DEFAULT_LIMITS, type Limits } from "../../src/columns/limits.js";
import { paintRow, tokenSpans } from "../../src/columns/paint-row.js";
import type { Layout, NumberColumn, Tensor } from "../../src/columns/tensor.js";
import { DataflexError } from "../../src/errors.js";

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
  if (column.kind === "features") {
    return { kind: "tensor", dtype, shape: [rows, column.width], data: travelling(column.values.slice(), dtype) };
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

/** Plain numbers back in the dtype that travelled, exactly. */
function travelling(values: NumericArray, dtype: DType): TypedArray {
  if (dtype === "f16" || dtype === "bf16") return narrowHalf(values as Float32Array, dtype);
  if (dtype === "i64") return BigInt64Array.from(values as Float64Array, BigInt);
  return values;
}
