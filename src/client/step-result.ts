import { rowsOf } from "../columns/field-value.js";
import { type FieldInput, toFieldValue } from "../columns/input.js";
import { layoutOf } from "../columns/layout.js";
import { sameSpans } from "../columns/span-walks.js";
import { maskSpans, type Spans } from "../columns/spans.js";
import type { MaskColumn, Weights } from "../columns/tensor.js";
import { DataflexError } from "../errors.js";
import type { Handle } from "../protocol/messages.js";
import type { CombinedReport } from "../protocol/statistics-messages.js";
import { combinedReport } from "./combined-report.js";
import { type Composed, compose } from "./compose.js";
import { expand } from "./expand.js";
import { keepRows, keptRows, type RowWise } from "./kept-rows.js";
import type { PipelineResult } from "./outcomes.js";
import { remask } from "./remask.js";
import { stepMetrics } from "./step-metrics.js";

/** Float32 weights with their shape: `(rows,)`, or row-major `(rows, L)` with 0 outside the mask. */
export interface WeightArray {
  readonly weights: Float32Array;
  readonly shape: readonly number[];
}

/** What `weights(step)` resolves to. */
export class StepResult {
  readonly step: number;
  readonly trigger: number;
  /** Delivered pipelines, in the configuration's order. */
  readonly pipelines: readonly (PipelineResult & WeightArray)[];
  /** `on_unavailable: neutral` took effect: no weights came, the step trains as if there were none. */
  readonly neutral: DataflexError | undefined;
  /** Milliseconds that the caller waited. */
  readonly waitedMs: number;
  /**
   * Keys of the rows, in the order of all weights here; undefined where rows were put without keys. It is the order of this producer's own
   * put if that named every row of the last stage, else that of the step's first put.
   */
  readonly keys: readonly string[] | undefined;
  readonly #handle: Handle;
  readonly #onLoss: ((composed: Composed) => void) | undefined;
  /** Pipelines that weigh the loss: mixers give no weights, and those of pre-rollout policies are for drawing prompts. */
  readonly #weighing: readonly PipelineResult[];
  #overScored: { readonly spans: Spans; readonly composed: Composed } | undefined;
  #forLoss: Composed | undefined;
  #combined: WeightArray | undefined;

  /** @param onLoss  gets the composition of each `rolloutIsWeights` */
  constructor(
    handle: Handle,
    of: { step: number; trigger: number; waitedMs: number; keys?: readonly string[] },
    results: readonly PipelineResult[],
    neutral?: DataflexError,
    onLoss?: (composed: Composed) => void,
  ) {
    this.#handle = handle;
    this.#onLoss = onLoss;
    this.step = of.step;
    this.trigger = of.trigger;
    this.waitedMs = of.waitedMs;
    this.keys = of.keys;
    this.neutral = neutral;
    this.pipelines = results.map(withArray);
    this.#weighing = results.filter((p) => p.compact !== undefined && p.stage !== "pre_rollout");
  }

  /** The mask of the latest stage: the one nearest to the loss's. Undefined only where nothing weighs the loss. */
  get #mask(): MaskColumn | undefined {
    const last = this.#weighing.findLast((p) => p.stage === "post_advantage") ?? this.#weighing.at(-1);
    return last && maskOfResult(last);
  }

  /**
   * The composition over the mask that scoring read: `(rows,)` when every pipeline weighs rows, else `(rows, L)`. Made on first use and
   * kept: copy it before you change it.
   */
  get combined(): WeightArray {
    const over = this.#composeScored();
    this.#combined ??= toArray(over?.composed.weights, over?.spans);
    return this.#combined;
  }

  /**
   * What the composition did: the product of the pipelines (step 1) and the weights after re-mask, clip and rescale (step 4), over live
   * rows or tokens. Over the mask that the loss read, once `rolloutIsWeights` was called, else over the one that scoring read. Each pipeline's
   * own statistics are `pipelines[i].stats`. Undefined if nothing weighs the loss or no row is live.
   */
  get statistics(): CombinedReport | undefined {
    const composed = this.#forLoss ?? this.#composeScored()?.composed;
    return composed && combinedReport(composed);
  }

  /**
   * The tensor by which the loss is multiplied: `(rows, L)` float32 over the mask that the loss reads (from which rejection may have removed
   * more tokens since scoring), multiplied by `existing` `rollout_is_weights` unless `combine` is `replace`.
   */
  rolloutIsWeights(mask: FieldInput, existing?: ArrayLike<number>): Float32Array {
    const loss = spansOfInput(mask);
    const kept = this.#handle.composition.combine === "replace" ? undefined : existing;
    const scored = this.#mask;
    if (!scored) return expand({ kind: "row", values: new Float32Array(loss.rows).fill(1) }, loss, kept);
    const known = this.#overScored;
    this.#forLoss = known && sameSpans(known.spans, loss) ? known.composed : this.#compose(scored, loss);
    this.#onLoss?.(this.#forLoss);
    return expand(this.#forLoss.weights, loss, kept);
  }

  /** One flat record of numbers for a logger: see `stepMetrics`. */
  metrics(prefix = "dataflex"): Record<string, number> {
    return stepMetrics(this, prefix);
  }

  /** Rows that weigh in the loss, ascending; undefined where nothing weighs it: then all rows do. */
  get keptRows(): Int32Array | undefined {
    const composed = this.#forLoss ?? this.#composeScored()?.composed;
    return composed && keptRows(composed);
  }

  /**
   * Fields with one entry a row, cut to the rows that weigh in the loss: the rest needs no forward pass. Weights of their own
   * (`combined`, `rolloutIsWeights`) are cut the same way.
   * @throws DataflexError INVALID_INPUT naming a field with another number of rows
   */
  keep<F extends Readonly<Record<string, RowWise>>>(fields: F): F {
    const kept = this.keptRows;
    return kept ? keepRows(fields, kept, this.#mask!.rows) : fields;
  }

  #composeScored() {
    const scored = this.#mask;
    if (!scored) return undefined;
    const spans = this.#overScored?.spans ?? maskSpans(scored);
    this.#overScored ??= { spans, composed: this.#compose(scored, spans) };
    return this.#overScored;
  }

  #compose(mask: MaskColumn, loss: Spans): Composed {
    const scored = maskSpans(mask);
    const excluded = excludedRows(this.#weighing, scored.rows);
    const all = this.#weighing.map((p) => {
      const own = maskSpans(maskOfResult(p));
      // Pipelines of different stages may have read different masks: each is brought to one mask before the product.
      return sameSpans(own, scored) ? p.compact! : remask(p.compact!, own, scored, excluded);
    });
    return compose(all, scored, loss, this.#handle.composition, excluded);
  }
}

/** @throws DataflexError DECODE: without its mask it is unknown which tokens a weight is for. */
function maskOfResult({ name, mask }: PipelineResult): MaskColumn {
  if (mask) return mask;
  const message = `the weights of pipeline "${name}" came without their mask: its worker is not of this version. Update it`;
  throw new DataflexError("DECODE", message, { pipeline: name });
}

/** A result with its weights as an array that is made on first use: token weights of a large step take much time and memory. */
function withArray(result: PipelineResult): PipelineResult & WeightArray {
  const { compact, mask } = result;
  if (compact?.kind === "token" && !mask) throw new DataflexError("DECODE", "token weights came without their mask");
  let made: Float32Array | undefined;
  return {
    ...result,
    shape: compact?.kind === "token" ? [mask!.rows, mask!.width] : [compact?.values.length ?? 0],
    get weights() {
      made ??= toArray(compact, mask && maskSpans(mask)).weights;
      return made;
    },
  };
}

/** `(rows,)`, 1 where any pipeline found padding or dropped the row: such a row weighs 0 and is live in no statistic. */
function excludedRows(weighing: readonly PipelineResult[], rows: number): Uint8Array {
  const out = new Uint8Array(rows);
  for (const { padding, dropped } of weighing) {
    for (let i = 0; i < (padding?.length ?? 0); i++) if (padding![i]) out[i] = 1;
    for (const row of dropped ?? []) out[row] = 1;
  }
  return out;
}

function toArray(weights: Weights | undefined, spans: Spans | undefined): WeightArray {
  if (!weights) return { weights: new Float32Array(0), shape: [0] };
  if (weights.kind === "row") return { weights: weights.values, shape: [weights.values.length] };
  return { weights: expand(weights, spans!), shape: [spans!.rows, spans!.width] };
}

/** The tokens of a mask in any form that a put takes. */
function spansOfInput(input: FieldInput): Spans {
  const response_mask = toFieldValue("response_mask", input);
  return maskSpans(layoutOf({ response_mask }, { rows: rowsOf(response_mask) }).mask!);
}
