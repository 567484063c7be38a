import { maskSpans, prefixSpans } from "../columns/spans.js";
import type { Column, Layout, Scope } from "../columns/tensor.js";

/** `compact`: `row` or `last` where the values allow it, else `sparse`. */
export const ENCODE_AS = ["jagged", "dense", "compact"] as const;
export type EncodeAs = (typeof ENCODE_AS)[number];

/**
 * A token matrix in a chosen encoding. Float64, so that tests see no rounding of their own. Outside the scope `dense` keeps what is
 * there, the others drop it.
 */
export function encodeTokens(
  matrix: readonly (readonly number[])[],
  { rows, width, mask, lengths }: Layout,
  scope: Scope,
  as: EncodeAs,
): Column {
  const base = { dtype: "f64", scope, rows, width } as const;
  if (as === "dense") {
    const values = new Float64Array(rows * width);
    for (const [i, row] of matrix.entries()) values.set(row, i * width);
    return { ...base, kind: "dense", values };
  }
  const response = prefixSpans(lengths ?? new Int32Array(rows).fill(width), width);
  const spans = scope === "mask" && mask !== undefined ? maskSpans(mask) : response;
  const tokens = matrix.map((row, i) => {
    const own: { token: number; value: number }[] = [];
    for (let q = spans.offsets[i]!; q < spans.offsets[i + 1]!; q++) {
      for (let token = spans.bounds[2 * q]!; token < spans.bounds[2 * q + 1]!; token++)
        own.push({ token, value: row[token]! });
    }
    return own;
  });
  if (as === "jagged") {
    const values = Float64Array.from(tokens.flat(), ({ value }) => value);
    return { ...base, kind: "jagged", offsets: spans.starts, values };
  }
  if (tokens.every((row) => row.every(({ value }) => Object.is(value, row[0]!.value)))) {
    return { ...base, kind: "row", values: Float64Array.from(tokens, (row) => row[0]?.value ?? 0) };
  }
  if (tokens.every((row) => row.slice(0, -1).every(({ value }) => Object.is(value, 0)))) {
    return { ...base, kind: "last", values: Float64Array.from(tokens, (row) => row.at(-1)?.value ?? 0) };
  }
  const filled = tokens.map((row) => row.filter(({ value }) => !Object.is(value, 0)));
  const offsets = new Int32Array(rows + 1);
  filled.forEach((row, i) => {
    offsets[i + 1] = offsets[i]! + row.length;
  });
  const index = Int32Array.from(filled.flat(), ({ token }) => token);
  return { ...base, kind: "sparse", offsets, index, values: Float64Array.from(filled.flat(), ({ value }) => value) };
}
