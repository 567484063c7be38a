import { DataflexError } from "../errors.js";
import { bitsOf, copyBits } from "./bytes.js";
import { DTYPE_ARRAYS } from "./dtypes.js";
import { rowsOf } from "./field-value.js";
import type { FieldValue, MaskColumn, Weights } from "./tensor.js";

/**
 * The rows of a field in another order: row k of the answer is row `order[k]`. Copies; bits are kept.
 *
 * @throws DataflexError INVALID_INPUT for a row that the field does not have
 */
export function takeRows(value: FieldValue, order: ArrayLike<number>): FieldValue {
  const rows = rowsOf(value);
  for (let k = 0; k < order.length; k++) {
    const row = order[k]!;
    if (!Number.isInteger(row) || row < 0 || row >= rows) {
      throw new DataflexError("INVALID_INPUT", `Row ${row} is asked for, the field has ${rows} rows.`, { row, rows });
    }
  }
  if (value.kind === "strings") {
    return { kind: "strings", values: Array.from(order, (row) => value.values[row]!) };
  }
  const from = bitsOf(value.data);
  if (value.kind !== "jagged") {
    const width = value.shape[1] ?? 1;
    const data = new DTYPE_ARRAYS[value.dtype](order.length * width);
    const to = bitsOf(data);
    for (let k = 0; k < order.length; k++) copyBits(from, order[k]! * width, (order[k]! + 1) * width, to, k * width);
    if (value.kind === "features") return { ...value, shape: [order.length, width], data };
    const shape = value.shape[1] === undefined ? ([order.length] as const) : ([order.length, width] as const);
    return { kind: "tensor", dtype: value.dtype, shape, data };
  }
  const starts = new Float64Array(rows + 1);
  for (let i = 0; i < rows; i++) starts[i + 1] = starts[i]! + value.lengths[i]!;
  const lengths = Int32Array.from(order, (row) => value.lengths[row]!);
  const data = new DTYPE_ARRAYS[value.dtype](lengths.reduce((a, b) => a + b, 0));
  const to = bitsOf(data);
  let at = 0;
  for (let k = 0; k < order.length; k++) {
    copyBits(from, starts[order[k]!]!, starts[order[k]! + 1]!, to, at);
    at += lengths[k]!;
  }
  return { kind: "jagged", dtype: value.dtype, lengths, width: value.width, data };
}

/** The rows of weights in another order, as `takeRows`. */
export function takeWeightRows(weights: Weights, order: ArrayLike<number>): Weights {
  if (weights.kind === "row") return { kind: "row", values: Float32Array.from(order, (row) => weights.values[row]!) };
  const { offsets, values } = weights;
  const taken = new Int32Array(order.length + 1);
  for (let k = 0; k < order.length; k++) taken[k + 1] = taken[k]! + offsets[order[k]! + 1]! - offsets[order[k]!]!;
  const out = new Float32Array(taken[order.length]!);
  for (let k = 0; k < order.length; k++)
    out.set(values.subarray(offsets[order[k]!]!, offsets[order[k]! + 1]!), taken[k]);
  return { kind: "token", offsets: taken, values: out };
}

/** The rows of a mask in another order, as `takeRows`. */
export function takeMaskRows(mask: MaskColumn, order: ArrayLike<number>): MaskColumn {
  const rows = order.length;
  if (mask.kind === "lengths") return { ...mask, rows, lengths: Int32Array.from(order, (row) => mask.lengths[row]!) };
  const { offsets, bounds } = mask;
  const taken = new Int32Array(rows + 1);
  for (let k = 0; k < rows; k++) taken[k + 1] = taken[k]! + offsets[order[k]! + 1]! - offsets[order[k]!]!;
  const out = new Int32Array(2 * taken[rows]!);
  for (let k = 0; k < rows; k++)
    out.set(bounds.subarray(2 * offsets[order[k]!]!, 2 * offsets[order[k]! + 1]!), 2 * taken[k]!);
  return { ...mask, rows, offsets: taken, bounds: out };
}
