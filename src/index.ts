/**
 * The public API for trainers and authors of components. Loads no bullmq, fastify or tfjs.
 */
export { z } from "zod";
export type { Batch } from "./batch/batch.js";
export type { Groups } from "./batch/groups.js";
export { roundHalfEven, shareOf } from "./batch/rounding.js";
export type { RowOperand, RowVector } from "./batch/row-vector.js";
export type { TokenField, TokenOperand } from "./batch/token-field.js";
export { Client, type ClientOptions } from "./client/client.js";
export type { MountOptions } from "./client/mount.js";
export type { PutReceipt } from "./client/neutral.js";
export type { PipelineResult } from "./client/outcomes.js";
export type { Released, Run } from "./client/run.js";
export type { PutOptions, WeightsOptions } from "./client/run-options.js";
export type { StepResult, WeightArray } from "./client/step-result.js";
export { defineMixer, definePolicy, defineReweighter, defineScorer, defineSelector } from "./components/define.js";
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
} from "./components/types.js";
export { DataflexError, ERROR_CODES, type ErrorCode, type Failure } from "./errors.js";
export { type Allocation, allocate } from "./mix/allocate.js";
export type { PromptHistory, Visit } from "./mix/prompt-history.js";
export type { DomainSeries, DomainStep, DomainUpdate } from "./mix/series.js";
export type { SavedState, StateEntry, StateStep, StateValue } from "./mix/state.js";
export type { FieldInput } from "./protocol/input.js";
export type {
  CombinedReport,
  FieldNeed,
  Handle,
  PipelineSpec,
  TrainerSettings,
  WeightStats,
} from "./protocol/messages.js";
export { STAGES, type Stage } from "./protocol/stages.js";
