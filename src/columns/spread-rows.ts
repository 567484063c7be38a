import { bitsOf } from "./bytes.js";
import { DTYPE_ARRAYS } from "./dtypes.js";
import { runsOf } from "./span-walks.js";
import { maskSpans } from "./spans.js";
import type { Layout, Tensor } from "./tensor.js";

/**
 * One number a row as a number a token: at `each` counted token, or at the `last` one (the response's last where no mask is known), 0
 * elsewhere. Undefined where the layout does not say which tokens these are.
 */
export function spreadRows(value: Tensor, at: "last" | "each", layout: Layout): Tensor | undefined {
  const { rows, lengths, mask } = layout;
  const width = Math.max(layout.width, mask?.width ?? 0);
  const data = new DTYPE_ARRAYS[value.dtype](rows * width);
  const [from, to] = [bitsOf(value.data), bitsOf(data)];
  const put = (row: number, start: number, stop: number) =>
    to.fill(from[row]!, row * width + start, row * width + stop);
  if (mask !== undefined) {
    const spans = maskSpans(mask);
    for (let row = 0; row < rows; row++) {
      const runs = [...runsOf(spans, row)];
      if (at === "each") for (const [start, stop] of runs) put(row, start, stop);
      else for (const [, stop] of runs.slice(-1)) put(row, stop - 1, stop);
    }
  } else if (at === "last" && lengths !== undefined) {
    lengths.forEach((length, row) => {
      if (length > 0) put(row, length - 1, length);
    });
  } else return undefined;
  return { kind: "tensor", dtype: value.dtype, shape: [rows, width], data };
}
