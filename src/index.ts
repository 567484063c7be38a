/**
 * The public API for trainers and authors of components. Loads no bullmq, fastify or tfjs.
 */
export { z } from "zod";
export { Client, type ClientOptions } from "./client/client.js";
export type { MountOptions } from "./client/mount.js";
export type { PutReceipt } from "./client/neutral.js";
export type { PipelineResult } from "./client/outcomes.js";
export type { Run } from "./client/run.js";
export type { PutOptions, WeightsOptions } from "./client/run-options.js";
export type { Released, RunStep } from "./client/run-step.js";
export type { StepResult, WeightArray } from "./client/step-result.js";
export { stepScale } from "./client/step-scale.js";
export type { FieldInput } from "./columns/input.js";
export { DataflexError, ERROR_CODES, type ErrorCode, type Failure } from "./errors.js";
export type { Handle } from "./protocol/messages.js";
export type { TrainerSettings } from "./protocol/mount-messages.js";
export type { FieldNeed, PipelineSpec } from "./protocol/pipeline-spec.js";
export type { SavedState, StateEntry, StateStep, StateValue } from "./protocol/saved-state.js";
export { STAGES, type Stage } from "./protocol/stages.js";
export type { CombinedReport, WeightStats } from "./protocol/statistics-messages.js";
export type { Batch } from "./scoring/batch/batch.js";
export type { Groups } from "./scoring/batch/groups.js";
export { quantileOf } from "./scoring/batch/order.js";
export { roundHalfEven, shareOf } from "./scoring/batch/rounding.js";
export type { RowOperand, RowVector } from "./scoring/batch/row-vector.js";
export type { TokenField, TokenOperand } from "./scoring/batch/token-field.js";
export type {
  Accepts,
  Component,
  ComponentDoc,
  Context,
  Granularity,
  Kept,
  Mixer,
  Policy,
  PromptChoice,
  Reweighter,
  Rows,
  Scorer,
  Scores,
  ScoresOf,
  Selector,
  Source,
} from "./scoring/components/component-types.js";
export {
  defineMixer,
  definePolicy,
  defineReweighter,
  defineScorer,
  defineSelector,
} from "./scoring/components/define.js";
export { type Allocation, allocate } from "./scoring/mix/allocate.js";
export type { PromptHistory, Visit } from "./scoring/mix/prompt-history.js";
export type { DomainSeries, DomainStep, DomainUpdate } from "./scoring/mix/series.js";
