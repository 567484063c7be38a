import { createHash } from "node:crypto";
import { rangesOf } from "../columns/row-ranges.js";
import { defined } from "../defined.js";
import { DataflexError } from "../errors.js";
import { pack } from "../protocol/codec.js";
import { errorOf } from "../sentences.js";

/** Which rows of the step a put is for, and in which order its input has them. */
export interface RowPlan {
  readonly ranges: readonly number[];
  readonly order?: Int32Array;
}

/** `rows: [start, stop]`, or all rows. Errors: INVALID_INPUT. */
export function planRange(rows: readonly [number, number] | undefined, total: number): RowPlan {
  if (!rows) return { ranges: total > 0 ? [0, total] : [] };
  const [start, stop] = Array.isArray(rows) ? (rows as readonly [number, number]) : [Number.NaN, Number.NaN];
  const sound =
    rows.length === 2 &&
    Number.isInteger(start) &&
    Number.isInteger(stop) &&
    start >= 0 &&
    start < stop &&
    stop <= total;
  if (!sound)
    throw new DataflexError(
      "INVALID_INPUT",
      `rows [${Array.from(rows).join(", ")}] is not a range within the ${total} rows of this step`,
      { rows, total },
    );
  return { ranges: [start, stop] };
}

/** Distinct keys → row numbers by the step's row table; the input is put in ascending row order. Errors: ROWS_CONFLICT. */
export function planKeys(keys: readonly string[], table: readonly string[]): RowPlan {
  const rowOf = new Map(table.map((k, i) => [k, i]));
  const unknown = keys.filter((k) => !rowOf.has(k));
  if (unknown.length > 0) {
    const facts = { count: unknown.length, first: unknown[0]! };
    throw errorOf("ROWS_CONFLICT.unknown_keys", facts, { unknown: unknown.slice(0, 10) });
  }
  const rows = keys.map((k) => rowOf.get(k)!);
  const order = Int32Array.from(keys.keys()).sort((a, b) => rows[a]! - rows[b]!);
  const sorted = Array.from(order, (i) => rows[i]!);
  const inOrder = order.every((v, i) => v === i);
  return { ranges: rangesOf(sorted), ...defined({ order: inOrder ? undefined : order }) };
}

export function refuseDuplicates(keys: readonly string[]): void {
  const seen = new Set<string>();
  for (const [row, key] of keys.entries()) {
    if (seen.has(key))
      throw new DataflexError("INVALID_INPUT", `key "${key}" occurs twice in this put (row ${row})`, { key, row });
    seen.add(key);
  }
}

/** The row table is sent and kept as one value: far above any real one, far below what would stall the server. */
const MAX_KEYS_BYTES = 32 << 20;

export interface KeyTable {
  readonly keys: readonly string[];
  readonly digest: string;
  readonly blob: Uint8Array;
}
export function keyTable(keys: readonly string[]): KeyTable {
  const blob = pack(keys);
  if (blob.byteLength > MAX_KEYS_BYTES) {
    throw new DataflexError(
      "LIMIT",
      `the row keys take ${blob.byteLength} bytes, above the limit of ${MAX_KEYS_BYTES}: use shorter keys, or put by row ranges`,
      { bytes: blob.byteLength },
    );
  }
  return { keys, blob, digest: createHash("sha256").update(blob).digest("hex").slice(0, 32) };
}
