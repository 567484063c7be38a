import type { Spans } from "../columns/spans.js";
import type { TokenWeights, Weights } from "../columns/tensor.js";
import { DataflexError } from "../errors.js";
import type { Composition } from "../protocol/pipeline-spec.js";
import { remask } from "./remask.js";

/** The result of composing a step's weights. */
export interface Composed {
  /** After step 4. */
  readonly weights: Weights;
  /** Live tokens of each row in the loss's mask, 0 for padding. */
  readonly counts: Int32Array;
  /** After step 1, over the mask that scoring read. */
  readonly product: { readonly weights: Weights; readonly counts: Int32Array };
  /** Elements that the clip raised to its lower bound, and lowered to its upper one. */
  readonly clipped: { readonly low: number; readonly high: number };
}

/**
 * The composition of a step's weights, once per step, on the trainer's side. In this order: (1) product of the delivered
 * pipelines; (2) re-mask with the mask that the loss will read; (3) clip, only where > 0; (4) rescale over live rows or tokens;
 * (5) multiply by existing `rollout_is_weights`, without renormalising (`expand`). Steps 1–3 and 5 are products, so a weight 0 stays 0.
 *
 * @param padding  `(rows,)`, 1 for rows that weigh 0 and count in no mean: padding, and rows dropped for a value that was not finite
 * @throws DataflexError as `remask`; NON_FINITE for a weight beyond float32
 */
export function compose(
  all: readonly Weights[],
  scored: Spans,
  loss: Spans,
  composition: Composition,
  padding?: ArrayLike<number>,
): Composed {
  const joint = product(all, scored.rows);
  const joined = remask(joint, scored, loss, padding);
  const counts = withoutPadding(loss.counts, padding);
  const { weights: bounded, ...clipped } = clip(joined, composition.clip);
  const weights = checkFinite(rescale(bounded, composition.rescale, counts));
  return { weights, counts, clipped, product: { weights: joint, counts: withoutPadding(scored.counts, padding) } };
}

/** Step 1. Row weights multiply every token of their row. All token weights lie over the same mask. */
function product(all: readonly Weights[], rows: number): Weights {
  const byRow = new Float64Array(rows).fill(1);
  const byToken: TokenWeights[] = [];
  for (const w of all) {
    if (w.kind === "token") byToken.push(w);
    else for (let i = 0; i < rows; i++) byRow[i]! *= w.values[i]!;
  }
  const [first, ...others] = byToken;
  if (!first) return { kind: "row", values: new Float32Array(byRow) };
  const { offsets } = first;
  const values = new Float32Array(first.values.length);
  const rest = others.map((w) => w.values);
  for (let i = 0; i < rows; i++) {
    for (let k = offsets[i]!; k < offsets[i + 1]!; k++) {
      let weight = first.values[k]!;
      for (let w = 0; w < rest.length; w++) weight *= rest[w]![k]!;
      values[k] = weight * byRow[i]!;
    }
  }
  return { kind: "token", offsets, values };
}

/** Step 3. A dropped sample stays dropped: 0 is never lifted to the lower bound. */
function clip(w: Weights, bounds: Composition["clip"]): { weights: Weights; low: number; high: number } {
  if (!bounds) return { weights: w, low: 0, high: 0 };
  const [least, most] = bounds;
  let [low, high] = [0, 0];
  const values = new Float32Array(w.values.length);
  for (let k = 0; k < values.length; k++) {
    const x = w.values[k]!;
    if (x > 0 && x < least) low++;
    else if (x > most) high++;
    values[k] = x > 0 ? Math.min(Math.max(x, least), most) : x;
  }
  return { weights: { ...w, values }, low, high };
}

/**
 * Step 4. `row`: the mean over live rows of each row's mean live weight becomes 1. `token`: the weights' sum over live tokens
 * becomes their count. Rows that a selection dropped are live: rescaling makes up for them. A sum of 0 is left as it is.
 */
function rescale(w: Weights, mode: Composition["rescale"], counts: Int32Array): Weights {
  if (mode === "none") return w;
  let [sum, want] = [0, 0];
  for (let i = 0; i < counts.length; i++) {
    const n = counts[i]!;
    if (n === 0) continue;
    const total = rowSum(w, i, n);
    sum += mode === "row" ? total / n : total;
    want += mode === "row" ? 1 : n;
  }
  if (sum === 0) return w;
  const values = new Float32Array(w.values.length);
  for (let k = 0; k < values.length; k++) values[k] = (w.values[k]! * want) / sum;
  return { ...w, values };
}

function rowSum(w: Weights, row: number, tokens: number): number {
  if (w.kind === "row") return w.values[row]! * tokens;
  let total = 0;
  for (let k = w.offsets[row]!; k < w.offsets[row + 1]!; k++) total += w.values[k]!;
  return total;
}

/** Products of finite weights may exceed float32, and must not reach a loss then. */
function checkFinite(w: Weights): Weights {
  for (let k = 0; k < w.values.length; k++) {
    if (Number.isFinite(w.values[k])) continue;
    const row = w.kind === "row" ? k : w.offsets.findLastIndex((start) => start <= k);
    throw new DataflexError(
      "NON_FINITE",
      `the composed weight of row ${row} is ${w.values[k]}: the pipelines' weights multiply beyond float32. Set clip, or normalize them`,
      { row },
    );
  }
  return w;
}

function withoutPadding(counts: Int32Array, padding: ArrayLike<number> | undefined): Int32Array {
  return padding ? counts.map((n, i) => (padding[i] ? 0 : n)) : counts;
}
