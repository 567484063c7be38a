import type { Weights } from "../../columns/tensor.js";
import type { PipelineSpec } from "../../protocol/pipeline-spec.js";
import type { RawState, StateStep, StateValue } from "../../protocol/saved-state.js";
import type { Distribution, ExtremeRows, WeightStats } from "../../protocol/statistics-messages.js";
import type { Batch } from "../batch/batch.js";
import type { Registry } from "../components/registry.js";
import type { Moments } from "./stats.js";

/** Everything on which a pipeline's outcome depends. */
export interface PipelineInput {
  readonly spec: PipelineSpec;
  readonly registry: Registry;
  /** All rows of the step, with every field of `spec.fields`. */
  readonly batch: Batch;
  readonly run: RunContext;
  /** What the pipeline remembers; an entry of this step is ignored, since it is computed again. Default: nothing. */
  readonly state?: RawState;
}

/** The step for which a pipeline runs. */
export interface RunContext {
  readonly run: string;
  readonly step: number;
  readonly trigger: number;
  /** What the actuator remembered of earlier steps, for those that do. */
  readonly history?: readonly StateStep[];
}

/** Things worth knowing about an outcome, each a fixed word. */
const FLAGS = {
  warmup: "the step lies before warmup_step: weights are neutral",
  no_live_rows: "no row has an unmasked token: all weights are 0",
  neutral_nonfinite: "a value was not finite and on_nonfinite is neutral: weights are neutral",
  all_zero: "the reweighter gave every row or token weight 0: all weights are 0",
  empty_selection: "the selector kept nothing: on_empty decided",
} as const;
export type Flag = keyof typeof FLAGS;

/** The outcome of one pipeline, of any kind, for one step. */
export interface PipelineOutcome {
  readonly granularity: PipelineSpec["granularity"];
  /** Of rows or tokens; for a policy, how often each candidate prompt should be drawn. */
  readonly weights?: Weights;
  /** Selectors: live rows that keep any weight, ascending. Policies: the chosen candidates. */
  readonly kept?: Int32Array;
  /** Rows that left the live set for a non-finite value (`on_nonfinite: drop`), ascending; their weights are 0. */
  readonly dropped?: Int32Array;
  /** Mixers: shares by domain, sum 1. (An object puts names that are whole numbers first: read by name.) */
  readonly proportions?: Readonly<Record<string, number>>;
  /** Over live rows or tokens, of the float32 weights; absent without live rows. */
  readonly stats?: WeightStats;
  /** Over live rows or tokens; absent when nothing was scored. */
  readonly score_stats?: { readonly n: number; readonly mean: number; readonly std: number };
  readonly distribution?: Distribution;
  /** Without uids, which the caller adds. */
  readonly extremes?: ExtremeRows;
  /** What the step adds to the pipeline's state; absent when its values were not usable (`on_nonfinite: neutral`). */
  readonly remember?: Remembered;
  readonly metrics: Readonly<Record<string, number>>;
  readonly flags: readonly Flag[];
  readonly warnings: readonly string[];
}

/** The outcome of a pipeline that weighs rows or tokens for the loss. */
export type WeighedOutcome = PipelineOutcome & { readonly weights: Weights };

export interface Remembered {
  readonly values: readonly StateValue[];
  /** How many steps the state keeps; the oldest is forgotten first. */
  readonly keep: number;
}

/** Scores of some rows, passed from score to act. Float64; 0 in rows that are not live. */
export interface ScoredRows {
  readonly granularity: "row" | "token";
  /** `(rows,)`, or the tokens under mask 1, row after row (where each row starts follows from the mask). */
  readonly values: Float64Array;
  /** Rows that left the live set for a non-finite value (`on_nonfinite: drop`). */
  readonly dropped: readonly number[];
  readonly moments: Moments;
  readonly metrics: Readonly<Record<string, number>>;
  readonly flags: readonly Flag[];
  readonly warnings: readonly string[];
}
