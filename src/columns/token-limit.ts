import { DataflexError } from "../errors.js";
import { malformed } from "./encodings/part.js";
import type { Limits } from "./limits.js";
import type { Column } from "./tensor.js";

/** Tokens that a column in its compact form stands for; of a column of scope `mask` the mask itself says it, so that it counts none. */
export function tokensIn(column: Column): number {
  if (column.kind === "vector" || column.kind === "strings" || column.kind === "features") return 0;
  if (column.kind === "lengths") return sum(column.lengths);
  if (column.kind === "runs") {
    const { bounds } = column;
    let tokens = 0;
    for (let i = 0; i < bounds.length; i += 2) tokens += bounds[i + 1]! - bounds[i]!;
    return tokens;
  }
  if (column.scope === "mask") return 0;
  return column.responseLengths ? sum(column.responseLengths) : column.rows * column.width;
}

/** Checked before anything of the size is allocated. @throws DataflexError DECODE naming the column */
export function checkTokens(name: string, column: Column, { max_tokens }: Limits): void {
  const tokens = tokensIn(column);
  if (tokens > max_tokens) malformed(name, `it has ${tokens} tokens, and at most ${max_tokens} are read`, { tokens });
}

/** Of a step's column that several puts brought. @throws DataflexError DECODE naming the column */
export function checkStepTokens(name: string, columns: readonly Column[], { max_tokens }: Limits): void {
  const tokens = columns.reduce((all, column) => all + tokensIn(column), 0);
  if (tokens <= max_tokens) return;
  const message = `Field "${name}" of this step has ${tokens} tokens in all its puts, and at most ${max_tokens} are computed at once: make steps smaller.`;
  throw new DataflexError("DECODE", message, { field: name, tokens });
}

function sum(lengths: Int32Array): number {
  let all = 0;
  for (const length of lengths) all += length;
  return all;
}
