import { Body } from "./body.js";
import { bytesOf } from "./bytes.js";
import { encodeLengths } from "./encodings/lengths.js";
import { encodeRuns } from "./encodings/runs.js";
import { keepRows } from "./span-walks.js";
import { maskSpans } from "./spans.js";
import type { ColumnHeader, MaskColumn, Weights } from "./tensor.js";

/** The result of a pipeline's step; every part is optional. */
export interface ResultColumns {
  /** The mask that scoring read, padding rows empty. */
  readonly mask?: MaskColumn;
  readonly weights?: Weights;
  /** Kept rows, ascending, int32. */
  readonly kept?: Int32Array;
  /** Rows that left the live set for a non-finite value, ascending, int32. */
  readonly dropped?: Int32Array;
  /** `(rows,)`, 1 = padding. */
  readonly is_padding?: Uint8Array;
  /** Padded width that token weights stand for. */
  readonly width: number;
}

/** The columns of a result as a body: the encodings of puts, chosen by the form that the worker already has. */
export function encodeResult(r: ResultColumns): { columns: ColumnHeader[]; body: Uint8Array } {
  const body = new Body();
  if (r.mask) {
    const shape = [r.mask.rows, r.mask.width];
    const base = { dtype: r.mask.dtype, shape, scope: "response" as const };
    if (r.mask.kind === "lengths") body.add("mask", { enc: "lengths", ...base, content: encodeLengths(r.mask) });
    else body.add("mask", { enc: "runs", ...base, content: encodeRuns(r.mask) });
  }
  if (r.weights?.kind === "row") {
    body.add("weights", {
      enc: "dense",
      dtype: "f32",
      shape: [r.weights.values.length],
      content: [["values", bytesOf(r.weights.values)]],
    });
  } else if (r.weights) {
    const offsets = r.weights.offsets;
    const counts = Int32Array.from({ length: offsets.length - 1 }, (_, i) => offsets[i + 1]! - offsets[i]!);
    body.add("weights", {
      enc: "jagged",
      dtype: "f32",
      shape: [counts.length, r.width],
      scope: "mask",
      content: [
        ["lengths", bytesOf(counts)],
        ["values", bytesOf(r.weights.values)],
      ],
    });
  }
  for (const name of ["kept", "dropped"] as const) {
    const rows = r[name];
    if (rows)
      body.add(name, { enc: "dense", dtype: "i32", shape: [rows.length], content: [["values", bytesOf(rows)]] });
  }
  if (r.is_padding)
    body.add("is_padding", {
      enc: "dense",
      dtype: "bool",
      shape: [r.is_padding.length],
      content: [["values", r.is_padding]],
    });
  // A buffer of its own, so that it can be handed from the compute thread to the worker.
  const whole = new Uint8Array(body.bytes);
  let at = 0;
  for (const part of body.parts) {
    whole.set(part, at);
    at += part.byteLength;
  }
  return { columns: body.columns, body: whole };
}

/** The mask with padding rows emptied. */
export function withoutRows(mask: MaskColumn, padding: Uint8Array | undefined): MaskColumn {
  if (!padding?.some((p) => p !== 0)) return mask;
  if (mask.kind === "lengths") return { ...mask, lengths: mask.lengths.map((n, i) => (padding[i] ? 0 : n)) };
  const kept = Uint8Array.from(padding, (flag) => (flag ? 0 : 1));
  const { offsets, bounds } = keepRows(maskSpans(mask), kept);
  return { ...mask, offsets, bounds };
}
