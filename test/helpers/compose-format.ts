import { compose, expand, type Mask, type Weights } from "../../src/client/compose.js";
import { maskOf } from "../../src/columns/mask.js";
import { DataflexError } from "../../src/errors.js";
import type { Composition } from "../../src/protocol/messages.js";

/** What goes into a golden vector of the composition. Masks are a string a row. */
export interface ComposeCase {
  readonly about: string;
  readonly composition: Composition;
  readonly scored: readonly string[];
  readonly loss: readonly string[];
  readonly padding?: readonly boolean[];
  /** One weight a row, or one a live token of `scored`, row after row; float32. */
  readonly weights: readonly ({ readonly rows: readonly number[] } | { readonly tokens: readonly number[] })[];
  readonly existing?: readonly (readonly number[])[];
}

export interface ComposeVector extends ComposeCase {
  /** Steps 1–4: `{rows}`, or `{tokens}` over the live tokens of `loss`. */
  readonly composed?: ComposeCase["weights"][number];
  /** Step 5: `(rows, width)`. */
  readonly expanded?: readonly (readonly number[])[];
  readonly refused?: { readonly code: string; readonly row: number; readonly column?: number };
}

export function maskFrom(rows: readonly string[]): Mask {
  const width = rows[0]?.length ?? 0;
  const data = Uint8Array.from(rows.join(""), Number);
  return maskOf("response_mask", { kind: "tensor", dtype: "bool", shape: [rows.length, width], data }, width);
}

/** Runs a case; what comes out is JSON. */
export function composeVector(given: ComposeCase): ComposeVector {
  const [scored, loss] = [maskFrom(given.scored), maskFrom(given.loss)];
  const counts = given.scored.map((row) => row.replaceAll("0", "").length);
  const offsets = Int32Array.from({ length: counts.length + 1 }, (_, i) =>
    counts.slice(0, i).reduce((a, b) => a + b, 0),
  );
  const weights = given.weights.map((w): Weights => {
    if ("rows" in w) return { kind: "row", values: Float32Array.from(w.rows) };
    return { kind: "token", offsets, values: Float32Array.from(w.tokens) };
  });
  try {
    const composed = compose(weights, scored, loss, given.composition, given.padding?.map(Number));
    const values = Array.from(composed.values);
    const existing = given.existing && Float32Array.from(given.existing.flat());
    const flat = Array.from(expand(composed, loss, existing));
    const expanded = given.loss.map((_, i) => flat.slice(i * loss.width, (i + 1) * loss.width));
    return { ...given, composed: composed.kind === "row" ? { rows: values } : { tokens: values }, expanded };
  } catch (error) {
    if (!(error instanceof DataflexError)) throw error;
    const { row, column } = error.details as { row: number; column?: number };
    return { ...given, refused: { code: error.code, row, ...(column === undefined ? {} : { column }) } };
  }
}
