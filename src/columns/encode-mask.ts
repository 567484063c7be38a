import { DataflexError } from "../errors.js";
import type { Encoded } from "./body.js";
import { bytesOf, padded } from "./bytes.js";
import { DTYPE_BYTES } from "./dtypes.js";
import { encodeDense } from "./encodings/dense.js";
import { encodeJagged } from "./encodings/jagged.js";
import { encodeLengths } from "./encodings/lengths.js";
import type { Parts } from "./encodings/part.js";
import { encodeRuns } from "./encodings/runs.js";
import { maskOf } from "./mask.js";
import { sameSpans } from "./span-walks.js";
import { maskSpans, type Spans, spansOf } from "./spans.js";
import type { Encoding, Jagged, Layout, Tensor } from "./tensor.js";
import { TokenSource } from "./token-source.js";

/**
 * A mask in its smallest encoding: `lengths` when the ones are a prefix of every row, else `runs`; `dense` or `jagged` where there are so many
 * holes that these are smaller. -0 becomes 0 in the compact forms. Equal sizes: in the order just given.
 *
 * @throws DataflexError INVALID_INPUT: an element neither 0 nor 1, or another mask than the layout's
 */
export function encodeMask(field: string, value: Tensor | Jagged, layout: Layout): Encoded {
  const mask = maskOf(field, value, layout.width);
  if (layout.mask !== undefined && !sameSpans(maskSpans(mask), maskSpans(layout.mask))) {
    const message = `Field "${field}" differs from the mask of the layout; build the layout from the fields that are put.`;
    throw new DataflexError("INVALID_INPUT", message, { field });
  }
  const { dtype, rows, width } = mask;
  const size = DTYPE_BYTES[dtype];
  const perRow = padded(4 * rows);
  const response = spansOf("response", layout, field);
  if (layout.lengths !== undefined) checked(field, value, response);

  const compact: readonly [Encoding, number, () => Parts] =
    mask.kind === "lengths"
      ? ["lengths", perRow, () => encodeLengths(mask)]
      : ["runs", perRow + padded(4 * mask.bounds.length), () => encodeRuns(mask)];
  const choices: (readonly [Encoding, number, () => Parts])[] = [
    compact,
    ["dense", padded(rows * width * size), () => [["values", encodeDense(checked(field, value, response), response)]]],
  ];
  if (layout.lengths !== undefined && response.total <= 0x7fffffff) {
    const jagged = (): Parts => [
      ["lengths", bytesOf(response.counts)],
      ["values", encodeJagged(checked(field, value, response), response)],
    ];
    choices.push(["jagged", perRow + padded(response.total * size), jagged]);
  }
  const [enc, , parts] = choices.reduce((best, choice) => (choice[1] < best[1] ? choice : best));
  return { enc, dtype, shape: [rows, width], scope: "response", content: parts() };
}

function checked(field: string, value: Tensor | Jagged, spans: Spans): TokenSource {
  const source = new TokenSource(value, spans.width);
  source.checkHolds(spans, field);
  return source;
}
