import { shownValue } from "../redact.js";
import { ALIGNMENT } from "./bytes.js";
import { type DType, isDType } from "./dtypes.js";
import { malformed } from "./encodings/part.js";
import { isFieldName, isMaskField } from "./field-names.js";
import type { Limits } from "./limits.js";
import { type ColumnHeader, ENCODINGS, type Encoding, SCOPES, type Scope } from "./tensor.js";

/** Which parts an encoding has, in body order; the optional `lengths` of scope `response` comes first. */
const PARTS = {
  dense: { required: ["values"], optional: ["lengths"] },
  jagged: { required: ["lengths", "values"], optional: [] },
  row: { required: ["values"], optional: ["lengths"] },
  last: { required: ["values"], optional: ["lengths"] },
  sparse: { required: ["counts", "index", "values"], optional: ["lengths"] },
  lengths: { required: ["lengths"], optional: [] },
  runs: { required: ["counts", "bounds"], optional: [] },
  strings: { required: ["sizes", "table", "index"], optional: [] },
} as const satisfies Record<Encoding, { required: readonly string[]; optional: readonly string[] }>;

/** A header whose every declaration has been checked against the limits; nothing has been allocated yet. */
export interface CheckedHeader {
  readonly name: string;
  readonly enc: Encoding;
  /** `u8` for strings, which have none. */
  readonly dtype: DType;
  readonly rows: number;
  readonly width: number;
  readonly matrix: boolean;
  readonly features: boolean;
  readonly scope: Scope;
  readonly distinct: number;
  readonly parts: Readonly<Record<string, readonly [number, number]>>;
}

/**
 * Checks a column header that came over the wire, field by field.
 *
 * @throws DataflexError DECODE naming the column and what is wrong
 */
export function checkColumnHeader(header: ColumnHeader, limits: Limits): CheckedHeader {
  const raw: Readonly<Record<string, unknown>> = isRecord(header) ? header : malformed("?", "its header is no map");
  const { name } = raw;
  if (!isFieldName(name)) malformed(shownValue(name), "its name is not a field name");
  const enc = raw.enc as Encoding;
  if (!(ENCODINGS as readonly unknown[]).includes(enc)) malformed(name, `the encoding ${shown(raw.enc)} is unknown`);
  const strings = enc === "strings";
  if (strings ? raw.dtype !== undefined : !isDType(raw.dtype)) {
    malformed(name, `the dtype ${shown(raw.dtype)} is ${strings ? "given for strings" : "unknown"}`);
  }
  const { rows, width, matrix } = checkShape(name, raw.shape, limits);
  const vectorAllowed = strings || enc === "dense";
  if (matrix ? strings : !vectorAllowed) malformed(name, `the encoding ${enc} does not fit its shape`);
  const scope = raw.scope as Scope;
  const features = matrix && scope === undefined && enc === "dense" && !isMaskField(name);
  if (matrix ? !features && !(SCOPES as readonly unknown[]).includes(scope) : scope !== undefined) {
    malformed(name, `the scope ${shown(raw.scope)} is ${matrix ? "unknown" : "given without tokens"}`);
  }
  return {
    name,
    enc,
    dtype: strings ? "u8" : (raw.dtype as DType),
    rows,
    width,
    matrix,
    features,
    scope: matrix && !features ? scope : "response",
    distinct: strings ? size(name, "distinct", raw.distinct, rows) : 0,
    parts: checkParts(name, enc, raw.parts, features),
  };
}

/**
 * Checks all column headers of a body of `bytes` bytes against each other, before any of the body is fetched.
 *
 * @throws DataflexError DECODE: as `checkColumnHeader`; a part outside the body, parts that add up to more than it, a name given twice
 */
export function checkHeaders(
  headers: readonly ColumnHeader[],
  bytes: number,
  limits: Limits,
): ReadonlyMap<string, CheckedHeader> {
  if (!Array.isArray(headers)) malformed("?", "the column headers are no array");
  if (bytes > limits.max_put_bytes) malformed("?", `the body has ${bytes} bytes, the limit is ${limits.max_put_bytes}`);
  const checked = new Map<string, CheckedHeader>();
  // Parts that overlap would let a small body decode into a large amount of memory.
  let spent = 0;
  for (const raw of headers as readonly ColumnHeader[]) {
    const header = checkColumnHeader(raw, limits);
    if (checked.has(header.name)) malformed(header.name, "it is there twice");
    for (const [part, [offset, length]] of Object.entries(header.parts)) {
      if (offset + length > bytes) {
        malformed(header.name, `part "${part}" ends at ${offset + length}, the body has ${bytes} bytes`, { part });
      }
      spent += length;
    }
    if (spent > bytes) malformed(header.name, "the parts add up to more bytes than the body has");
    checked.set(header.name, header);
  }
  return checked;
}

function checkShape(name: string, shape: unknown, limits: Limits): { rows: number; width: number; matrix: boolean } {
  if (!Array.isArray(shape) || shape.length < 1 || shape.length > 2) {
    malformed(name, "its shape is not [rows] or [rows, width]");
  }
  const rows = size(name, "rows", shape[0], limits.max_rows);
  const matrix = shape.length === 2;
  return { rows, width: matrix ? size(name, "width", shape[1], limits.max_width) : 0, matrix };
}

function checkParts(
  name: string,
  enc: Encoding,
  parts: unknown,
  features: boolean,
): Readonly<Record<string, readonly [number, number]>> {
  if (!isRecord(parts)) malformed(name, "its parts are no map");
  const { required, optional } = PARTS[enc];
  for (const part of required) if (!Object.hasOwn(parts, part)) malformed(name, `part "${part}" is missing`, { part });
  const known: readonly string[] = features ? required : [...required, ...optional];
  for (const [part, place] of Object.entries(parts)) {
    if (!known.includes(part)) malformed(name, `the encoding ${enc} has no part "${part}"`, { part });
    if (!Array.isArray(place) || place.length !== 2)
      malformed(name, `part "${part}" is not [offset, length]`, { part });
    const offset = size(name, `the offset of part "${part}"`, place[0], Number.MAX_SAFE_INTEGER);
    size(name, `the length of part "${part}"`, place[1], Number.MAX_SAFE_INTEGER);
    if (offset % ALIGNMENT !== 0)
      malformed(name, `part "${part}" starts at ${offset}, not at a multiple of 8`, { part });
  }
  return parts as Readonly<Record<string, readonly [number, number]>>;
}

function size(name: string, what: string, value: unknown, limit: number): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) malformed(name, `${what} is ${shown(value)}, not a size`);
  if ((value as number) > limit) malformed(name, `${what} is ${value}, the limit is ${limit}`, { limit });
  return value as number;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function shown(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value.slice(0, 40)) : shownValue(value);
}
