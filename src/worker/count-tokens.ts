import { decodeColumns } from "../columns/decode.js";
import type { Limits } from "../columns/limits.js";
import type { ResultHeader } from "../protocol/messages.js";

/**
 * Tokens that a result weighs: the ones of its mask. Undefined when the pipeline read no mask. Never throws: the result is already
 * settled, and a number for a chart must not undo that.
 */
export function countTokens(
  header: Pick<ResultHeader, "columns">,
  body: Uint8Array,
  limits: Limits,
): number | undefined {
  const columns = header.columns.filter((c) => c.name === "mask");
  if (columns.length === 0) return undefined;
  try {
    const mask = decodeColumns(columns, body, limits).get("mask");
    let tokens = 0;
    if (mask?.kind === "lengths") for (const length of mask.lengths) tokens += length;
    if (mask?.kind === "runs")
      for (let i = 1; i < mask.bounds.length; i += 2) tokens += mask.bounds[i]! - mask.bounds[i - 1]!;
    return tokens;
  } catch {
    return undefined;
  }
}
