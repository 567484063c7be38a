import { chunksOf } from "../columns/chunks.js";
import { encodeColumns } from "../columns/encode.js";
import { kindOf, SPREAD_FIELDS } from "../columns/field-kinds.js";
import { layoutOf } from "../columns/layout.js";
import { countRows, toBitmap } from "../columns/row-ranges.js";
import { spreadRows } from "../columns/spread-rows.js";
import { takeRows } from "../columns/take-rows.js";
import type { FieldValue, Layout, MaskColumn, Scope } from "../columns/tensor.js";
import { defined } from "../defined.js";
import { pack } from "../protocol/codec.js";
import type { Handle, PutHeader } from "../protocol/messages.js";
import type { FieldNeed } from "../protocol/pipeline-spec.js";
import { contentHash, putId } from "../protocol/put-id.js";
import type { Stage } from "../protocol/stages.js";
import { errorOf } from "../sentences.js";
import { checkForm } from "./form.js";
import { checkSessions } from "./sessions.js";

export interface PutInput {
  readonly stage: Stage;
  /** The fields that the handle asks for at this stage. */
  readonly fields: Readonly<Record<string, FieldValue>>;
  /** `session` and `session_index` that ride along (`ridingSessions`). */
  readonly sessions?: Readonly<Record<string, FieldValue>>;
  readonly total_rows: number;
  /** Ascending row ranges `[start, stop, …]` of this put. */
  readonly ranges: readonly number[];
  /** For each row of the ranges, its input row; absent: in the order given. */
  readonly order?: Int32Array;
  readonly lengths?: ArrayLike<number>;
  readonly is_padding?: readonly boolean[];
  /** The mask of the same rows from an earlier put of this step and stage. */
  readonly mask?: () => MaskColumn | undefined;
}

/** A put, encoded and cut into chunks: what the client keeps until the step was read or released. */
export interface PreparedPut {
  readonly header: PutHeader;
  readonly headerBytes: Uint8Array;
  readonly chunks: readonly Uint8Array[];
  readonly fields: readonly string[];
  readonly bitmap: Uint8Array;
  readonly layout: Layout;
  readonly ranges: readonly number[];
}

/** @throws DataflexError INVALID_INPUT with field, row and column; LIMIT */
export function preparePut(handle: Handle, input: PutInput): PreparedPut {
  const { limits } = handle;
  const needs = handle.stages[input.stage] ?? [];
  const rows = countRows(input.ranges);
  const given = { ...input.fields, ...input.sessions };
  checkForm(input.fields, needs, rows);
  if (input.sessions) checkSessions(given, rows, input.is_padding);
  const { order } = input;
  const values: Record<string, FieldValue> = order
    ? Object.fromEntries(Object.entries(given).map(([name, value]) => [name, takeRows(value, order)]))
    : given;
  const fields = Object.keys(input.fields).sort();
  const lengths = input.lengths ? inOrder(input.lengths, order) : raggedLengths(values.response_mask);
  if (lengths) values.lengths = { kind: "tensor", dtype: "i32", shape: [rows], data: lengths };
  if (input.is_padding) {
    const data = Uint8Array.from(inOrder(input.is_padding.map(Number), order));
    values.is_padding = { kind: "tensor", dtype: "bool", shape: [rows], data };
  }
  const found = layoutOf(values, { rows, ...defined({ lengths }) });
  const mask = found.mask ?? input.mask?.();
  const known: Layout = mask ? { ...found, mask } : found;
  const layout = spreadVectors(values, needs, known)
    ? { ...layoutOf(values, { rows, ...defined({ lengths }) }), ...defined({ mask }) }
    : known;
  const scopes: Record<string, Scope | undefined> = Object.fromEntries(needs.map((n) => [n.name, n.scope]));
  const { columns, parts, bytes } = encodeColumns(values, { scopes, layout, limits });
  const chunks = chunksOf(parts, bytes, limits.chunk_bytes);
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

/** Rewards and advantages of one number a row, as the numbers a token that they stand for. Says whether there were any. */
function spreadVectors(values: Record<string, FieldValue>, needs: readonly FieldNeed[], layout: Layout): boolean {
  let any = false;
  for (const need of needs) {
    const value = values[need.name];
    if (value?.kind !== "tensor" || value.shape.length > 1 || kindOf(need) !== "tokens") continue;
    const spread = spreadRows(value, SPREAD_FIELDS[need.name]!, layout);
    if (spread === undefined) throw errorOf("INVALID_INPUT.no_mask", { field: need.name });
    values[need.name] = spread;
    any = true;
  }
  return any;
}

/** A ragged mask defines the length of each response; its encoded form holds only the positions of the ones. */
function raggedLengths(mask: FieldValue | undefined): Int32Array | undefined {
  return mask?.kind === "jagged" ? mask.lengths : undefined;
}

function inOrder(values: ArrayLike<number>, order: Int32Array | undefined): Int32Array {
  return order ? Int32Array.from(order, (row) => values[row]!) : Int32Array.from(values);
}
