import { createHash } from "node:crypto";
import type { ColumnHeader } from "../columns/tensor.js";
import { pack } from "./codec.js";
import type { Stage } from "./stages.js";

/**
 * A put's id: 32 hex digits, the same whenever the same fields are put for the same rows at the same stage, so that a repeated put is
 * recognised. SHA-256 over the packed `[stage, fields in ascending order, row ranges]`, first half.
 */
export function putId(stage: Stage, fields: readonly string[], rows: readonly number[]): string {
  // Field names are ASCII, so this is the byte order in every language.
  return digest([pack([stage, [...fields].sort(), [...rows]])]);
}

/**
 * The content hash of a put: 32 hex digits, the first half of SHA-256 over the body's bytes and then the packed column headers. The headers
 * are included, because equal bytes of another dtype or shape are other values.
 *
 * @param chunks  consecutive pieces of the body
 */
export function contentHash(chunks: readonly Uint8Array[], columns: readonly ColumnHeader[]): string {
  return digest([...chunks, pack(columns)]);
}

function digest(pieces: readonly Uint8Array[]): string {
  const hash = createHash("sha256");
  for (const piece of pieces) hash.update(piece);
  return hash.digest("hex").slice(0, 32);
}
