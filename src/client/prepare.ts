import { chunksOf } from "../columns/chunks.js";
import { encodeColumns } from "../columns/encode.js";
import { STRING_FIELDS } from "../columns/field-names.js";
import { type FieldInput, toFieldValue } from "../columns/input.js";
import { layoutOf } from "../columns/layout.js";
import { countRows, toBitmap } from "../columns/row-ranges.js";
import { takeRows } from "../columns/take-rows.js";
import type { FieldValue, Layout, LengthsColumn, RunsColumn, Scope } from "../columns/tensor.js";
import { DataflexError } from "../errors.js";
import { pack } from "../protocol/codec.js";
import type { FieldNeed, Handle, PutHeader } from "../protocol/messages.js";
import { contentHash, putId } from "../protocol/put-id.js";
import type { Stage } from "../protocol/stages.js";

export interface PutInput {
  readonly stage: Stage;
  readonly fields: Readonly<Record<string, FieldInput>>;
  readonly total_rows: number;
  /** Ascending row ranges `[start, stop, …]` of this put. */
  readonly ranges: readonly number[];
  /** For each row of the ranges, which input row it is; absent: as they come. */
  readonly order?: Int32Array;
  readonly lengths?: ArrayLike<number>;
  readonly is_padding?: readonly boolean[];
  /** The mask of the same rows from an earlier put of this step and stage. */
  readonly mask?: LengthsColumn | RunsColumn;
}

/** A put, encoded and cut into chunks: what the client keeps until its step settles. */
export interface PreparedPut {
  readonly header: PutHeader;
  readonly headerBytes: Uint8Array;
  readonly chunks: readonly Uint8Array[];
  readonly fields: readonly string[];
  readonly bitmap: Uint8Array;
  readonly layout: Layout;
  readonly ranges: readonly number[];
}

/** Encodes the fields that the handle asks for; others never travel. Errors: INVALID_INPUT with field, row and column; LIMIT. */
export function preparePut(handle: Handle, input: PutInput): PreparedPut {
  const { limits } = handle;
  const needs = handle.stages[input.stage] ?? [];
  const rows = countRows(input.ranges);
  const values = pickFields(input, needs, rows);
  const lengths = reorderNumbers(input.lengths, input.order);
  const named = new Set(Object.keys(values));
  if (lengths) values.lengths = { kind: "tensor", dtype: "i32", shape: [rows], data: lengths };
  if (input.is_padding) {
    const flags = Uint8Array.from(input.is_padding, (p) => (p ? 1 : 0));
    const ordered = input.order ? Uint8Array.from(input.order, (i) => flags[i] ?? 0) : flags;
    values.is_padding = { kind: "tensor", dtype: "bool", shape: [rows], data: ordered };
  }
  const found = layoutOf(values, { rows, ...(lengths ? { lengths } : {}) });
  const layout: Layout = !found.mask && input.mask ? { ...found, mask: input.mask } : found;
  const scopes: Record<string, Scope | undefined> = Object.fromEntries(needs.map((n) => [n.name, n.scope]));
  const { columns, parts, bytes } = encodeColumns(values, { scopes, layout });
  if (bytes > limits.max_put_bytes) {
    throw new DataflexError(
      "LIMIT",
      `a put of ${bytes} bytes is above the limit of ${limits.max_put_bytes}: put fewer rows at a time`,
      { bytes },
    );
  }
  const chunks = chunksOf(parts, bytes, limits.chunk_bytes);
  const fields = [...named].sort();
  const hash = contentHash(chunks, columns);
  const header: PutHeader = {
    v: handle.v,
    id: putId(input.stage, fields, input.ranges),
    hash,
    stage: input.stage,
    total_rows: input.total_rows,
    rows: input.ranges,
    columns,
    bytes,
    chunks: chunks.length,
    chunk_bytes: limits.chunk_bytes,
  };
  return {
    header,
    headerBytes: pack(header),
    chunks,
    fields,
    bitmap: toBitmap(input.ranges, input.total_rows),
    layout,
    ranges: input.ranges,
  };
}

function pickFields(input: PutInput, needs: readonly FieldNeed[], rows: number): Record<string, FieldValue> {
  const values: Record<string, FieldValue> = {};
  for (const { name, scope } of needs) {
    if (!Object.hasOwn(input.fields, name)) continue;
    const value = toFieldValue(name, input.fields[name]!);
    const got =
      value.kind === "strings" ? value.values.length : value.kind === "jagged" ? value.lengths.length : value.shape[0];
    checkForm(name, value, scope);
    if (got !== rows) {
      throw new DataflexError("INVALID_INPUT", `field "${name}" has ${got} rows, this put is for ${rows}`, {
        field: name,
        rows: got,
        expected: rows,
      });
    }
    values[name] = input.order ? takeRows(value, input.order) : value;
  }
  return values;
}

/** A scope says: values of tokens. Scoring would find out too, but only when the step is past fixing. */
function checkForm(name: string, value: FieldValue, scope: Scope | undefined): void {
  const details = { field: name };
  if (STRING_FIELDS.includes(name) && value.kind !== "strings")
    throw new DataflexError(
      "INVALID_INPUT",
      `field "${name}" holds numbers; it is a column of one string a row`,
      details,
    );
  if (scope === undefined) return;
  const one = "an outcome stands on the response's last token, a value of the whole row on each of its tokens";
  if (value.kind === "strings" || (value.kind === "tensor" && value.shape.length === 1))
    throw new DataflexError(
      "INVALID_INPUT",
      `field "${name}" has one ${value.kind === "strings" ? "string" : "number"} a row; it is read token by token: send (rows, L), or ragged rows (${one})`,
      details,
    );
}

function reorderNumbers(values: ArrayLike<number> | undefined, order: Int32Array | undefined): Int32Array | undefined {
  if (!values) return undefined;
  return order ? Int32Array.from(order, (i) => values[i] ?? 0) : Int32Array.from(values);
}
