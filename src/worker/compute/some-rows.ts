import { errorOf } from "../../sentences.js";

/** Rows, padding aside, that a column which rides along says nothing about. */
export function missingRows(
  rows: number,
  padding: Uint8Array | undefined,
  isKnown: (row: number) => boolean,
): readonly number[] {
  const missing: number[] = [];
  for (let row = 0; row < rows; row++) if (!padding?.[row] && !isKnown(row)) missing.push(row);
  return missing;
}

/**
 * What holds for some rows of a step and is unknown of others would be guessed for these.
 *
 * @throws DataflexError INVALID_INPUT naming them
 */
export function refuseSome(column: string, missing: readonly number[]): void {
  if (missing.length === 0) return;
  const more = missing.length > 5 ? ` and ${missing.length - 5} more` : "";
  const facts = { rows: missing.slice(0, 5).join(", ") + more, column };
  throw errorOf("INVALID_INPUT.some_rows", facts, { rows: missing.slice(0, 10), column });
}
