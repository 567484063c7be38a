import type { Spans } from "../../columns/spans.js";
import type { Column } from "../../columns/tensor.js";
import type { Batch } from "../../scoring/batch/batch.js";
import type { CallColumn, Reference } from "./host-messages.js";

type Numbers = Float32Array | Float64Array | Int8Array | Uint8Array | Int32Array;

const TYPE_OF = {
  Float32Array: "f4",
  Float64Array: "f8",
  Int8Array: "i1",
  Uint8Array: "u1",
  Int32Array: "i4",
} as const;

/** Collects the bodies of a frame. */
export class Bodies {
  readonly all: Uint8Array[] = [];

  add(values: Numbers): Reference {
    const { buffer, byteOffset, byteLength } = values;
    this.all.push(new Uint8Array(buffer, byteOffset, byteLength));
    return [this.all.length - 1, TYPE_OF[values.constructor.name as keyof typeof TYPE_OF]];
  }
}

/** The readable columns of a batch, over its live rows. The columns' own memory if every row is live. */
export function callColumns(batch: Batch, rows: Int32Array, bodies: Bodies): Record<string, unknown> {
  const { frame } = batch;
  const all = rows.length === batch.rows;
  const mask = spansOfRows(frame.mask, rows, all);
  // The mask is sent as a mask, whatever reads it.
  const names = batch.fields.filter((name) => name !== "response_mask");
  const columns = names.map((name): CallColumn => {
    const column = batch.encoded(name);
    return { name, ...callColumn(all ? column : rowsOf(column, rows), bodies) };
  });
  return {
    rows: rows.length,
    width: batch.width,
    mask: { offsets: bodies.add(mask.offsets), bounds: bodies.add(mask.bounds) },
    lengths: frame.lengthsKnown ? bodies.add(pick(frame.response.counts, rows, all)) : null,
    counted: bodies.add(pick(batch.lastOfSession(), rows, all)),
    columns,
  };
}

type Bare<T> = T extends unknown ? Omit<T, "name"> : never;

function callColumn(column: Column, bodies: Bodies): Bare<CallColumn> {
  switch (column.kind) {
    case "strings":
      return { kind: "strings", table: column.table, index: bodies.add(column.index) };
    case "lengths":
      return {
        kind: "runs",
        offsets: bodies.add(Int32Array.from({ length: column.rows + 1 }, (_, i) => i)),
        bounds: bodies.add(Int32Array.from({ length: 2 * column.rows }, (_, k) => (k % 2) * column.lengths[k >> 1]!)),
      };
    case "runs":
      return { kind: "runs", offsets: bodies.add(column.offsets), bounds: bodies.add(column.bounds) };
    case "vector":
      return { kind: "vector", dtype: column.dtype, values: bodies.add(column.values) };
    case "features": {
      const { kind, dtype, width, values } = column;
      return { kind, dtype, width, values: bodies.add(values) };
    }
    default:
      return {
        kind: column.kind,
        dtype: column.dtype,
        scope: column.scope,
        values: bodies.add(column.values),
        ...("offsets" in column && { offsets: bodies.add(column.offsets) }),
        ...("index" in column && { index: bodies.add(column.index) }),
        ...(column.responseLengths && { lengths: bodies.add(column.responseLengths) }),
      };
  }
}

/** Some rows of a column, in its own form. */
function rowsOf(column: Column, rows: Int32Array): Column {
  const count = rows.length;
  const lengths =
    "responseLengths" in column && column.responseLengths
      ? { responseLengths: pick(column.responseLengths, rows, false) }
      : {};
  switch (column.kind) {
    case "strings":
      return { ...column, rows: count, index: pick(column.index, rows, false) };
    case "lengths":
      return { ...column, rows: count, lengths: pick(column.lengths, rows, false) };
    case "vector":
    case "row":
    case "last":
      return { ...column, ...lengths, rows: count, values: pick(column.values, rows, false) };
    case "runs": {
      const { offsets, values } = pieces(column.offsets, column.bounds, rows, 2);
      return { ...column, rows: count, offsets, bounds: values };
    }
    case "features":
    case "dense": {
      const starts = Int32Array.from({ length: column.rows + 1 }, (_, i) => i);
      const { values } = pieces(starts, column.values, rows, column.width);
      return { ...column, ...lengths, rows: count, values };
    }
    case "jagged":
      return { ...column, ...lengths, rows: count, ...pieces(column.offsets, column.values, rows, 1) };
    case "sparse": {
      const { values: index } = pieces(column.offsets, column.index, rows, 1);
      return { ...column, ...lengths, rows: count, index, ...pieces(column.offsets, column.values, rows, 1) };
    }
  }
}

function spansOfRows(spans: Spans, rows: Int32Array, all: boolean): { offsets: Int32Array; bounds: Int32Array } {
  if (all) return spans;
  const { offsets, values } = pieces(spans.offsets, spans.bounds, rows, 2);
  return { offsets, bounds: values };
}

/** The pieces `offsets[row] … offsets[row + 1]`, each of `size` elements, of some rows one after another. */
function pieces<T extends Numbers>(
  offsets: Int32Array,
  values: T,
  rows: Int32Array,
  size: number,
): { offsets: Int32Array; values: T } {
  const own = new Int32Array(rows.length + 1);
  rows.forEach((row, k) => {
    own[k + 1] = own[k]! + offsets[row + 1]! - offsets[row]!;
  });
  const out = new (values.constructor as new (length: number) => T)(own[rows.length]! * size);
  rows.forEach((row, k) => {
    out.set(values.subarray(offsets[row]! * size, offsets[row + 1]! * size), own[k]! * size);
  });
  return { offsets: own, values: out };
}

function pick<T extends Numbers>(values: T, rows: Int32Array, all: boolean): T {
  if (all) return values;
  const out = new (values.constructor as new (length: number) => T)(rows.length);
  rows.forEach((row, k) => {
    out[k] = values[row]!;
  });
  return out;
}
