import { DataflexError } from "../errors.js";
import { Body, type Encoded } from "./body.js";
import { bytesOf } from "./bytes.js";
import { encodeMask } from "./encode-mask.js";
import { encodeMatrix } from "./encode-matrix.js";
import type { Parts } from "./encodings/part.js";
import { encodeStrings } from "./encodings/strings.js";
import { isMaskField } from "./field-names.js";
import type { Limits } from "./limits.js";
import { DEFAULT_LIMITS } from "./limits.js";
import { type Spans, spansOf } from "./spans.js";
import type { ColumnHeader, FieldValue, Jagged, Layout, Scope, Tensor } from "./tensor.js";
import { tokensIn } from "./token-limit.js";

export interface EncodeOptions {
  /** Per token matrix; `mask` where absent. Masks themselves, vectors and strings have none. */
  readonly scopes: Readonly<Record<string, Scope | undefined>>;
  readonly layout: Layout;
  readonly limits?: Limits;
}

/** Columns and their bytes. `parts` joined are the body, `bytes` long; every column part starts at a multiple of 8. */
export interface EncodedColumns {
  readonly columns: ColumnHeader[];
  readonly parts: Uint8Array[];
  readonly bytes: number;
}

const MAX_INTEGER = 2n ** 53n;

/**
 * Encodes fields in their smallest form, lossless over the field's scope, bit for bit; +0 outside. The choice is never larger than
 * `dense`. Where nothing has to be left out, `parts` are views of the caller's arrays, which must not change as long as
 * the parts are in use.
 *
 * @param fields  name → checked value (`toFieldValue`), all of `opts.layout.rows` rows
 * @throws DataflexError INVALID_INPUT: a value that contradicts the layout, an integer beyond ±2^53, scope `mask` without a response_mask; LIMIT: rows, width, tokens, bytes or a string beyond `opts.limits`
 */
export function encodeColumns(fields: Readonly<Record<string, FieldValue>>, opts: EncodeOptions): EncodedColumns {
  const { layout, scopes, limits = DEFAULT_LIMITS } = opts;
  atMost("rows", layout.rows, limits.max_rows);
  atMost("tokens a row", layout.width, limits.max_width);
  if (layout.mask) atMost("tokens", tokensIn(layout.mask), limits.max_tokens);
  // Fields of one scope share their spans.
  const known = new Map<Scope, Spans>();
  const spans = (name: string, scope: Scope): Spans => {
    const found = known.get(scope) ?? spansOf(scope, layout, name);
    atMost("tokens", found.total, limits.max_tokens);
    known.set(scope, found);
    return found;
  };

  const body = new Body();
  for (const [name, value] of Object.entries(fields)) {
    if (value.kind === "strings") {
      const { parts, distinct } = encodeStrings(name, value, limits.max_string_bytes);
      body.add(name, { enc: "strings", shape: [layout.rows], distinct, content: parts });
    } else if (value.kind === "features" || isVector(value)) {
      if (value.kind === "features") atMost("numbers a row", value.shape[1], limits.max_width);
      const content: Parts = [["values", bytesOf(value.data)]];
      const shape = value.kind === "features" ? value.shape : [layout.rows];
      const encoded = { enc: "dense", dtype: value.dtype, shape, content } as const;
      if (value.dtype === "i64") checkIntegers(name, encoded);
      body.add(name, encoded);
    } else if (isMaskField(name)) {
      body.add(name, encodeMask(name, value, layout));
    } else {
      const scope = Object.hasOwn(scopes, name) ? (scopes[name] ?? "mask") : "mask";
      const encoded = encodeMatrix(name, value, scope, spans(name, scope), layout);
      if (value.dtype === "i64") checkIntegers(name, encoded);
      body.add(name, encoded);
    }
  }
  atMost("bytes", body.bytes, limits.max_put_bytes);
  return { columns: body.columns, parts: body.parts, bytes: body.bytes };
}

/** Readers refuse integers that no Number holds, so the writer does too. What lies outside the scope is not in `content`, and may be anything. */
function checkIntegers(field: string, { content }: Encoded): void {
  for (const [part, bytes] of content) {
    if (part !== "values") continue;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let at = 0; at < bytes.byteLength; at += 8) {
      const value = view.getBigInt64(at, true);
      if (value <= MAX_INTEGER && value >= -MAX_INTEGER) continue;
      const message = `Field "${field}" is i64 and holds ${value}, beyond ±2^53; send f64 if it need not be exact.`;
      throw new DataflexError("INVALID_INPUT", message, { field });
    }
  }
}

function isVector(value: Tensor | Jagged): value is Tensor {
  return value.kind === "tensor" && value.shape[1] === undefined;
}

function atMost(what: string, value: number, limit: number): void {
  if (value <= limit) return;
  const message = `The put has ${value} ${what}, the limit is ${limit}; split the rows over several puts or raise the limit.`;
  throw new DataflexError("LIMIT", message, { what, value, limit });
}
