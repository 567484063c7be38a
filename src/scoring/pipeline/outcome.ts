import type { Weights } from "../../columns/tensor.js";
import type { Distribution, ExtremeRows, WeightStats } from "../../protocol/messages.js";
import type { StateStep, StateValue } from "../../protocol/saved-state.js";
import type { Moments } from "./stats.js";

/** The step a pipeline runs for. */
export interface RunContext {
  readonly run: string;
  readonly step: number;
  readonly trigger: number;
  readonly signal: AbortSignal;
  /** What the actuator remembered of earlier steps, for those that do. */
  readonly history?: readonly StateStep[];
}

/** Things worth knowing about an outcome, each a fixed word. */
export const FLAGS = {
  warmup: "the step lies before warmup_step: weights are neutral",
  no_live_rows: "no row has an unmasked token: all weights are 0",
  neutral_nonfinite: "a value was not finite and on_nonfinite is neutral: weights are neutral",
  degenerate: "the weights' sum was 0 or not finite: weights are neutral",
  empty_selection: "the selector kept nothing: on_empty decided",
} as const;
export type Flag = keyof typeof FLAGS;

/** What one pipeline makes of one step. */
export interface PipelineOutcome {
  readonly granularity: "row" | "token";
  readonly weights: Weights;
  /** Selectors: live rows that keep any weight, ascending. */
  readonly kept?: Int32Array;
  /** Rows that left the live set for a non-finite value (`on_nonfinite: drop`), ascending; their weights are 0. */
  readonly dropped?: Int32Array;
  /** Over live rows or tokens, of the float32 weights; absent without live rows. */
  readonly stats?: WeightStats;
  /** Over live rows or tokens; absent when nothing was scored. */
  readonly score_stats?: { readonly n: number; readonly mean: number; readonly std: number };
  readonly distribution?: Distribution;
  /** Without uids: those are the caller's. */
  readonly extremes?: ExtremeRows;
  /** What later steps will find of this one; selectors that remember only. */
  readonly remember?: Remembered;
  readonly metrics: Readonly<Record<string, number>>;
  readonly flags: readonly Flag[];
  readonly warnings: readonly string[];
}

/** `by` made the numbers: those of another maker are not comparable. `steps` is how many steps are kept. */
export interface Remembered {
  readonly by: string;
  readonly values: readonly StateValue[];
  readonly steps: number;
}

/** Scores of some rows, on their way from score to act. Float64; 0 in rows that are not live. */
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
