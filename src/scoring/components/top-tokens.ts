import type { TokenField } from "../batch/token-field.js";

/**
 * 1 at the unmasked tokens of the whole batch whose value is at least the (1 − fraction) quantile of all of them, else 0; compared as
 * float32, ties at the threshold are in. Shared by the reweighter and the selector `entropy_topk`.
 */
export function topTokens(field: TokenField, fraction: number): TokenField {
  const threshold = Math.fround(field.quantile(1 - fraction));
  return field.map((value) => Number(Math.fround(value) >= threshold));
}
