import { compose } from "../../src/client/compose.js";
import { expand } from "../../src/client/expand.js";
import { maskOf } from "../../src/columns/mask.js";
import { maskSpans, type Spans } from "../../src/columns/spans.js";
import type { Weights } from "../../src/columns/tensor.js";
import { DataflexError } from "../../src/errors.js";
import type { Composition } from "../../src/protocol/pipeline-spec.js";

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

function maskFrom(rows: readonly string[]): Spans {
  const width = rows[0]?.length ?? 0;
  const data = Uint8Array.from(rows.join(""), Number);
  const mask = { kind: "tensor", dtype: "bool", shape: [rows.length, width], data } as const;
  return maskSpans(maskOf("response_mask", mask, width));
}

/** Runs a case; what comes out is JSON. */
export function composeVector(given: ComposeCase): ComposeVector {
  const [scored, loss] = [maskFrom(given.scored), maskFrom(given.loss)];
  const weights = given.weights.map((w): Weights => {
    if ("rows" in w) return { kind: "row", values: Float32Array.from(w.rows) };
    return { kind: "token", offsets: scored.starts, values: Float32Array.from(w.tokens) };
  });
  try {
    const { weights: composed } = compose(weights, scored, loss, given.composition, given.padding?.map(Number));
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
