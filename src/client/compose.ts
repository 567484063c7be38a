import type { LengthsColumn, RunsColumn } from "../columns/tensor.js";
import { DataflexError } from "../errors.js";
import type { Composition } from "../protocol/messages.js";
import type { Composed } from "./combined-report.js";

/**
 * The composition of a step's weights, once per step, on the trainer's side. In this order: (1) product of the delivered
 * pipelines; (2) re-mask with the mask that the loss will read; (3) clip, only where > 0; (4) rescale over live rows or tokens;
 * (5) times existing `rollout_is_weights`, never renormalised. Steps 1–3 and 5 are products, so a weight 0 stays 0.
 */
export type Weights = { readonly kind: "row"; readonly values: Float32Array } | TokenWeights;
interface TokenWeights {
  readonly kind: "token";
  readonly offsets: Int32Array;
  readonly values: Float32Array;
}

export type Mask = LengthsColumn | RunsColumn;

/** Half-open live token ranges of a row. */
export function* liveRuns(mask: Mask, row: number): Generator<[number, number]> {
  if (mask.kind === "lengths") {
    if (mask.lengths[row]! > 0) yield [0, mask.lengths[row]!];
    return;
  }
  for (let k = mask.offsets[row]!; k < mask.offsets[row + 1]!; k++)
    yield [mask.bounds[2 * k]!, mask.bounds[2 * k + 1]!];
}

export function liveCounts(mask: Mask): Int32Array {
  const counts = new Int32Array(mask.rows);
  for (let row = 0; row < mask.rows; row++) for (const [a, b] of liveRuns(mask, row)) counts[row]! += b - a;
  return counts;
}

/** Step 1. Row weights multiply every token of their row. All token weights lie over the same mask. */
export function product(all: readonly Weights[], counts: Int32Array): Weights {
  const rows = counts.length;
  const rowPart = new Float64Array(rows).fill(1);
  let token: Float64Array | undefined;
  let offsets: Int32Array | undefined;
  for (const w of all) {
    if (w.kind === "row") for (let i = 0; i < rows; i++) rowPart[i]! *= w.values[i]!;
    else if (!token) [token, offsets] = [new Float64Array(w.values), w.offsets];
    else for (let k = 0; k < token.length; k++) token[k]! *= w.values[k]!;
  }
  if (!token || !offsets) return { kind: "row", values: new Float32Array(rowPart) };
  for (let i = 0; i < rows; i++) for (let k = offsets[i]!; k < offsets[i + 1]!; k++) token[k]! *= rowPart[i]!;
  return { kind: "token", offsets, values: new Float32Array(token) };
}

/**
 * Step 2 for token weights: from the mask that scoring read to the one that the loss reads. Errors: INVALID_INPUT when the
 * loss has a live token that was never scored, naming row and column: its weight is unknown, not 0.
 */
export function remask(w: Weights, scored: Mask, loss: Mask, padding?: ArrayLike<number>): Weights {
  if (scored.rows !== loss.rows) {
    throw new DataflexError("INVALID_INPUT", `the loss's mask has ${loss.rows} rows, the weights ${scored.rows}`, {
      rows: loss.rows,
      expected: scored.rows,
    });
  }
  const before = liveCounts(scored);
  if (w.kind === "row") {
    const after = liveCounts(loss);
    for (let i = 0; i < before.length; i++)
      if (after[i]! > 0 && before[i] === 0 && !padding?.[i]) throw unscored(i, firstLive(loss, i));
    return w;
  }
  const counts = liveCounts(loss);
  const offsets = new Int32Array(loss.rows + 1);
  for (let row = 0; row < loss.rows; row++) offsets[row + 1] = offsets[row]! + counts[row]!;
  const values = new Float32Array(offsets[loss.rows]!);
  for (let row = 0; row < loss.rows; row++)
    if (!padding?.[row]) copyRow(w, scored, loss, row, values.subarray(offsets[row], offsets[row + 1]));
  return { kind: "token", offsets, values };
}

function copyRow(w: TokenWeights, scored: Mask, loss: Mask, row: number, into: Float32Array): void {
  const runs = [...liveRuns(scored, row)];
  let [k, r, at] = [w.offsets[row]!, 0, 0];
  for (const [a, b] of liveRuns(loss, row)) {
    for (let t = a; t < b; ) {
      while (r < runs.length && runs[r]![1] <= t) {
        k += runs[r]![1] - runs[r]![0];
        r++;
      }
      const run = runs[r];
      if (!run || t < run[0]) throw unscored(row, t);
      const stop = Math.min(b, run[1]);
      into.set(w.values.subarray(k + t - run[0], k + stop - run[0]), at);
      at += stop - t;
      t = stop;
    }
  }
}

const firstLive = (mask: Mask, row: number): number => liveRuns(mask, row).next().value?.[0] ?? 0;
function unscored(row: number, column: number): DataflexError {
  return new DataflexError(
    "INVALID_INPUT",
    `row ${row}, column ${column}: the loss's mask has a token here that was masked when the weights were computed. Send the mask that the loss reads`,
    { row, column },
  );
}

/** Step 3. A dropped sample stays dropped: 0 is never lifted to the lower bound. */
export function clip(w: Weights, bounds: readonly [number, number] | undefined): Weights {
  if (!bounds) return w;
  const [lo, hi] = bounds;
  return { ...w, values: w.values.map((x) => (x > 0 ? Math.min(Math.max(x, lo), hi) : x)) };
}

/**
 * Step 4. `row`: the mean over live rows of each row's mean live weight becomes 1. `token`: the weights' sum over live tokens
 * becomes their count. Selected-away rows are live: rescaling makes up for them. A sum of 0 is left as it is.
 */
export function rescale(w: Weights, mode: Composition["rescale"], counts: Int32Array): Weights {
  if (mode === "none") return w;
  let [sum, want] = [0, 0];
  for (let i = 0; i < counts.length; i++) {
    const n = counts[i]!;
    if (n === 0) continue;
    let total = 0;
    if (w.kind === "row") total = w.values[i]! * n;
    else for (let k = w.offsets[i]!; k < w.offsets[i + 1]!; k++) total += w.values[k]!;
    sum += mode === "row" ? total / n : total;
    want += mode === "row" ? 1 : n;
  }
  if (sum === 0) return w;
  return { ...w, values: w.values.map((x) => (x * want) / sum) };
}

/** Products of finite weights may lie beyond float32: no loss may see that. */
function checkFinite(w: Weights): Weights {
  const at = w.values.findIndex((x) => !Number.isFinite(x));
  if (at < 0) return w;
  const row = w.kind === "row" ? at : w.offsets.findLastIndex((start) => start <= at);
  throw new DataflexError(
    "NON_FINITE",
    `the composed weight of row ${row} is ${w.values[at]}: the pipelines' weights multiply beyond float32. Set clip, or normalize them`,
    { row },
  );
}

/**
 * Steps 1–4. `padding`: `(rows,)`, 1 for rows that weigh 0 and count in no mean: padding, and rows dropped for a value that was not finite.
 * Errors: those of `remask`; NON_FINITE. `onComposed` is told what came out, for reports.
 */
export function compose(
  all: readonly Weights[],
  scored: Mask,
  loss: Mask,
  composition: Composition,
  padding?: ArrayLike<number>,
  onComposed?: (composed: Composed) => void,
): Weights {
  const before = liveCounts(scored);
  const joint = product(all, before);
  const joined = remask(joint, scored, loss, padding);
  const counts = withoutPadding(liveCounts(loss), padding);
  const weights = checkFinite(rescale(clip(joined, composition.clip), composition.rescale, counts));
  onComposed?.({
    weights,
    counts,
    clipped: countClipped(joined, composition.clip),
    product: { weights: joint, counts: withoutPadding(before, padding) },
  });
  return weights;
}

function withoutPadding(counts: Int32Array, padding: ArrayLike<number> | undefined): Int32Array {
  return padding ? counts.map((n, i) => (padding[i] ? 0 : n)) : counts;
}

function countClipped(w: Weights, bounds: readonly [number, number] | undefined): Composed["clipped"] {
  let [low, high] = [0, 0];
  if (bounds === undefined) return { low, high };
  for (const x of w.values) {
    if (x > 0 && x < bounds[0]) low++;
    else if (x > bounds[1]) high++;
  }
  return { low, high };
}

/** Errors: INVALID_INPUT for an existing weight that is none, or that leads beyond float32. */
function corrected(weight: number, existing: unknown, row: number, column: number): number {
  const right = typeof existing === "number" && existing >= 0 && Number.isFinite(existing);
  const product = right ? Math.fround(weight * existing) : Number.NaN;
  if (Number.isFinite(product)) return product;
  throw new DataflexError(
    "INVALID_INPUT",
    right
      ? `row ${row}, column ${column}: the existing rollout_is_weights ${existing} times ${weight} is beyond float32`
      : `row ${row}, column ${column}: the existing rollout_is_weights is ${String(existing)}; a weight is a finite number from 0`,
    { row, column },
  );
}

/**
 * `(rows, width)` float32, 0 outside the mask; step 5 with `existing`, unless the composition replaces it. Errors: INVALID_INPUT
 * for `existing` of another size, or with a value on a live token that is no weight.
 */
export function expand(w: Weights, mask: Mask, existing?: ArrayLike<number>): Float32Array {
  const { rows, width } = mask;
  if (existing && existing.length !== rows * width) {
    throw new DataflexError(
      "INVALID_INPUT",
      `existing rollout_is_weights have ${existing.length} elements, the mask ${rows * width}`,
      {},
    );
  }
  const out = new Float32Array(rows * width);
  for (let row = 0; row < rows; row++) {
    let k = w.kind === "token" ? w.offsets[row]! : 0;
    for (const [a, b] of liveRuns(mask, row)) {
      const run = out.subarray(row * width + a, row * width + b);
      if (w.kind === "row") run.fill(w.values[row]!);
      else run.set(w.values.subarray(k, k + run.length));
      k += run.length;
      if (!existing) continue;
      for (let t = a; t < b; t++)
        out[row * width + t] = corrected(out[row * width + t]!, existing[row * width + t], row, t);
    }
  }
  return out;
}
