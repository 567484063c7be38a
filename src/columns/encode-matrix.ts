import type { Encoded } from "./body.js";
import { bytesOf, padded } from "./bytes.js";
import { encodeDense } from "./encodings/dense.js";
import { encodeJagged } from "./encodings/jagged.js";
import { encodeLast, isLastOnly, lastIndex } from "./encodings/last.js";
import type { Parts } from "./encodings/part.js";
import { encodeRow, isRowConstant } from "./encodings/row.js";
import { countSparse, encodeSparse } from "./encodings/sparse.js";
import type { Spans } from "./spans.js";
import type { Encoding, Jagged, Layout, Scope, Tensor } from "./tensor.js";
import { TokenSource } from "./token-source.js";

/** Offsets are 32-bit: a matrix with more tokens in scope has no jagged or sparse form. */
const MAX_INDEXED = 0x7fffffff;

/**
 * One token matrix in its smallest encoding. Sizes are those of padded parts, as in the body. Equal sizes: `row` before `last`
 * before `dense` before `jagged` before `sparse`, so that the choice is a function of the values alone.
 */
export function encodeMatrix(
  field: string,
  value: Tensor | Jagged,
  scope: Scope,
  spans: Spans,
  layout: Layout,
): Encoded {
  const source = new TokenSource(value, layout.width);
  source.checkHolds(spans, field);
  const { rows, width, total } = spans;
  const { size, dtype } = source;
  const perRow = padded(4 * rows);
  const lengths = responseLengths(scope, spans, layout);
  const extra = lengths.length === 0 ? 0 : perRow;

  const sizes: Record<"row" | "last" | "dense" | "jagged" | "sparse", number> = {
    row: Number.POSITIVE_INFINITY,
    last: Number.POSITIVE_INFINITY,
    dense: padded(rows * width * size) + extra,
    jagged: total > MAX_INDEXED ? Number.POSITIVE_INFINITY : perRow + padded(total * size),
    sparse: Number.POSITIVE_INFINITY,
  };
  const constant = isRowConstant(source, spans);
  const lastOnly = isLastOnly(source, spans);
  if (constant) sizes.row = padded(rows * size) + extra;
  if (lastOnly) sizes.last = padded(rows * size) + extra;
  // Counting stops where sparse cannot win any more.
  const best = Math.min(sizes.row, sizes.last, sizes.dense, sizes.jagged);
  const budget = Math.min(MAX_INDEXED, Math.floor((best - perRow - extra) / (4 + size)));
  const nonZero = budget < 0 ? 1 : countNonZero(source, spans, constant, lastOnly, budget);
  if (nonZero <= budget) sizes.sparse = perRow + extra + padded(4 * nonZero) + padded(nonZero * size);

  let enc: keyof typeof sizes = "row";
  for (const other of ["last", "dense", "jagged", "sparse"] as const) if (sizes[other] < sizes[enc]) enc = other;
  return { enc: enc satisfies Encoding, dtype, shape: [rows, width], scope, content: content() };

  function content(): Parts {
    switch (enc) {
      case "jagged":
        return [
          ["lengths", bytesOf(spans.counts)],
          ["values", encodeJagged(source, spans)],
        ];
      case "sparse":
        return [...lengths, ...encodeSparse(source, spans, nonZero)];
      case "row":
        return [...lengths, ["values", encodeRow(source, spans)]];
      case "last":
        return [...lengths, ["values", encodeLast(source, spans)]];
      case "dense":
        return [...lengths, ["values", encodeDense(source, spans)]];
    }
  }
}

/** The part "lengths" of scope `response`: present when the response lengths are known and some response is shorter than the width. */
function responseLengths(scope: Scope, spans: Spans, layout: Layout): Parts {
  if (scope !== "response" || layout.lengths === undefined || spans.total === spans.rows * spans.width) return [];
  return [["lengths", bytesOf(layout.lengths)]];
}

/** Exact up to `budget`; where one of the two known facts holds, it follows from that without another pass. */
function countNonZero(source: TokenSource, spans: Spans, constant: boolean, lastOnly: boolean, budget: number): number {
  if (!constant && !lastOnly) return countSparse(source, spans, budget);
  let count = 0;
  for (let i = 0; i < spans.rows; i++) {
    const last = lastIndex(source, spans, i);
    if (last >= 0 && !source.isZero(last)) count += constant ? spans.counts[i]! : 1;
  }
  return count;
}
