import { decodeColumns } from "../columns/decode.js";
import { encodeColumns } from "../columns/encode.js";
import { type FieldInput, toFieldValue } from "../columns/input.js";
import { layoutOf } from "../columns/layout.js";
import { DataflexError } from "../errors.js";
import type { CombinedReport, Handle } from "../protocol/messages.js";
import { type Composed, combinedReport } from "./combined-report.js";
import { compose, expand, type Mask, type Weights } from "./compose.js";
import type { PipelineResult } from "./outcomes.js";

/** Float32 weights with their shape: `(rows,)`, or row-major `(rows, L)` with 0 outside the mask. */
export interface WeightArray {
  readonly weights: Float32Array;
  readonly shape: readonly number[];
}

/** What `weights(step)` answers. */
export class StepResult {
  readonly step: number;
  readonly trigger: number;
  /** Delivered pipelines, in the order of the configuration. */
  readonly pipelines: readonly (PipelineResult & WeightArray)[];
  /** `on_unavailable: neutral` took effect: no weights came, the step trains as if there were none. */
  readonly neutral: DataflexError | undefined;
  /** Milliseconds that the caller waited. */
  readonly waitedMs: number;
  readonly #handle: Handle;
  #onComposed: ((composed: Composed) => void) | undefined;
  #composed: Composed | undefined;

  constructor(
    handle: Handle,
    at: { step: number; trigger: number; waitedMs: number },
    results: readonly PipelineResult[],
    neutral?: DataflexError,
  ) {
    this.#handle = handle;
    this.step = at.step;
    this.trigger = at.trigger;
    this.waitedMs = at.waitedMs;
    this.neutral = neutral;
    this.pipelines = results.map((r) => ({ ...r, ...toArray(r.compact, r.mask) }));
  }

  /** `listener` is told of the composition that the loss gets; it costs nothing more than keeping what is there anyway. */
  whenComposed(listener: (composed: Composed) => void): this {
    this.#onComposed = listener;
    return this;
  }

  /** The composition over the mask that scoring read: `(rows,)` when every pipeline weighs rows, else `(rows, L)`. */
  get combined(): WeightArray {
    const scored = this.#scoredMask();
    return toArray(scored ? this.#compose(scored, scored) : undefined, scored);
  }

  /**
   * What the composition did: the product of the pipelines (step 1) and the weights after re-mask, clip and rescale (step 4), over live
   * rows or tokens. By the mask that the loss read, once `rolloutIsWeights` was asked, else by the one that scoring read. Each pipeline's
   * own statistics are `pipelines[i].stats`. Undefined where nothing weighs the loss or no row is live.
   */
  get statistics(): CombinedReport | undefined {
    const scored = this.#scoredMask();
    if (!scored) return undefined;
    if (!this.#composed) this.#compose(scored, scored, (composed) => this.#keep(composed));
    return this.#composed && combinedReport(this.#composed);
  }

  #keep(composed: Composed): void {
    this.#composed = composed;
  }

  /**
   * The tensor that the loss multiplies in: `(rows, L)` float32 over the mask that the loss reads (which rejection may have
   * cleared further since scoring), times `existing` `rollout_is_weights` unless `combine` is `replace`.
   */
  rolloutIsWeights(mask: FieldInput, existing?: ArrayLike<number>): Float32Array {
    const loss = asMask(mask, this.#handle);
    const kept = this.#handle.composition.combine === "replace" ? undefined : existing;
    const scored = this.#scoredMask();
    const ones: Weights = { kind: "row", values: new Float32Array(loss.rows).fill(1) };
    const told = (composed: Composed): void => {
      this.#keep(composed);
      this.#onComposed?.(composed);
    };
    return expand(scored ? this.#compose(scored, loss, told) : ones, loss, kept);
  }

  #compose(scored: Mask, loss: Mask, onComposed?: (composed: Composed) => void): Weights {
    const weighing = this.#weighing();
    for (const p of weighing) {
      if (!p.mask)
        throw new DataflexError("INVALID_INPUT", `pipeline "${p.name}" was scored without a mask`, {
          pipeline: p.name,
        });
    }
    const out = excludedRows(weighing, scored.rows);
    // Pipelines of different stages may have read different masks; each is brought to the loss's before the product.
    const all = weighing.map((p) => (p.mask === scored ? p.compact! : rebase(p, scored, out)));
    return compose(all, scored, loss, this.#handle.composition, out, onComposed);
  }

  /** Mixers weigh nothing, and the weights of pre-rollout policies are for drawing prompts: neither concerns the loss. */
  #weighing() {
    return this.pipelines.filter((p) => p.compact !== undefined && p.stage !== "pre_rollout");
  }

  /** The mask of the latest stage: the one nearest to the loss's. */
  #scoredMask(): Mask | undefined {
    const weighing = this.#weighing().filter((p) => p.mask);
    return (weighing.filter((p) => p.stage === "post_advantage").at(-1) ?? weighing.at(-1))?.mask;
  }
}

/** `(rows,)`, 1 where any pipeline found padding or dropped the row: such a row weighs 0 and is live to nobody. */
function excludedRows(weighing: readonly PipelineResult[], rows: number): Uint8Array {
  const out = new Uint8Array(rows);
  for (const { padding, dropped } of weighing) {
    for (let i = 0; i < (padding?.length ?? 0); i++) if (padding![i]) out[i] = 1;
    for (const row of dropped ?? []) out[row] = 1;
  }
  return out;
}

function rebase(p: PipelineResult, onto: Mask, out: Uint8Array): Weights {
  return compose([p.compact!], p.mask!, onto, { combine: "multiply", rescale: "none" }, out);
}

function toArray(weights: Weights | undefined, mask: Mask | undefined): WeightArray {
  if (!weights) return { weights: new Float32Array(0), shape: [0] };
  if (weights.kind === "row") return { weights: weights.values, shape: [weights.values.length] };
  if (!mask) throw new DataflexError("DECODE", "token weights came without their mask", {});
  return { weights: expand(weights, mask), shape: [mask.rows, mask.width] };
}

/** Any form of a mask as a decoded column, by the same code that a put goes through. */
function asMask(input: FieldInput, handle: Handle): Mask {
  const value = toFieldValue("response_mask", input);
  if (value.kind === "strings") throw new DataflexError("INVALID_INPUT", "the mask is a column of strings", {});
  const rows = value.kind === "jagged" ? value.lengths.length : value.shape[0];
  const fields = { response_mask: value };
  const { columns, parts } = encodeColumns(fields, {
    scopes: { response_mask: "response" },
    layout: layoutOf(fields, { rows }),
  });
  return decodeColumns(columns, Buffer.concat(parts), handle.limits).get("response_mask") as Mask;
}
