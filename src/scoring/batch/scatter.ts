import { lastToken, rankOf } from "../../columns/span-walks.js";
import type { Spans } from "../../columns/spans.js";
import type { TokenColumn } from "../../columns/tensor.js";
import type { Frame } from "./frame.js";
import { isFloat } from "./kernel.js";

/** One row of a mostly-zero column spread out over the width, for loops that mix it with dense columns. */
export interface Scatter {
  /** `(width,)`, zero except between `fill` and `clear`. */
  readonly values: Float64Array;
  /** Puts row i's values in their places. Returns NaN if one of those in `spans` is not finite, else 0. */
  fill(row: number, spans: Spans): number;
  clear(): void;
}

/** The non-zero tokens of one row, in order of position: `visit(token, value)`. Kinds `last`, `sparse`, `lengths`, `runs`. */
export function visitTokens(
  column: TokenColumn,
  frame: Frame,
  row: number,
  visit: (token: number, value: number) => void,
): void {
  switch (column.kind) {
    case "last": {
      const token = lastToken(column.scope === "mask" ? frame.mask : frame.response, row);
      if (token >= 0) visit(token, column.values[row]!);
      return;
    }
    case "sparse":
      for (let k = column.offsets[row]!; k < column.offsets[row + 1]!; k++) visit(column.index[k]!, column.values[k]!);
      return;
    case "lengths":
      for (let t = 0; t < column.lengths[row]!; t++) visit(t, 1);
      return;
    case "runs":
      for (let q = column.offsets[row]!; q < column.offsets[row + 1]!; q++) {
        for (let t = column.bounds[2 * q]!; t < column.bounds[2 * q + 1]!; t++) visit(t, 1);
      }
      return;
    default:
      throw new TypeError(`a ${column.kind} column is read in place, not scattered`);
  }
}

export function scatterOf(column: TokenColumn, frame: Frame): Scatter {
  const values = new Float64Array(frame.width);
  const touched: number[] = [];
  const floats = "values" in column && isFloat(column.values);
  return {
    values,
    fill(row, spans) {
      let z = 0;
      visitTokens(column, frame, row, (token, value) => {
        values[token] = value;
        touched.push(token);
        if (floats && value - value !== 0 && rankOf(spans, row, token) >= 0) z = Number.NaN;
      });
      return z;
    },
    clear() {
      for (const token of touched) values[token] = 0;
      touched.length = 0;
    },
  };
}
