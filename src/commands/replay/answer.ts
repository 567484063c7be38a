import type { StepResult, WeightArray } from "../../client/step-result.js";
import { defined } from "../../defined.js";
import type { RecordedStep } from "./recorded-step.js";

/** Numbers, one a row, or one list of token weights a row. */
export type PlainWeights = readonly number[] | readonly (readonly number[])[];

export interface PipelineAnswer {
  readonly name: string;
  readonly mechanism: string;
  readonly stage: string;
  readonly granularity: string;
  readonly weights: PlainWeights;
  readonly kept?: readonly number[];
  readonly proportions?: Readonly<Record<string, number>>;
  readonly metrics: Readonly<Record<string, number>>;
  readonly stats?: Readonly<Record<string, number>>;
  readonly score_stats?: Readonly<Record<string, number>>;
  readonly flags: readonly string[];
  readonly warnings: readonly string[];
  /** Milliseconds by phase, on the worker. */
  readonly timings: Readonly<Record<string, number>>;
}

/** Proof that the weights came through Redis, BullMQ and another process. */
export interface Evidence {
  /** `run_id` of the Redis server. */
  readonly redis_run_id: string;
  /** Entries in the streams of this step: chunks put, result chunks, outcomes. */
  readonly stream_entries: number;
  /** BullMQ jobs that settled the pipelines, in the pipelines' order. */
  readonly job_ids: readonly string[];
  /** Process that settled the first pipeline. */
  readonly worker_pid: number | undefined;
  readonly worker_pids: readonly number[];
}

/** What `replay --json` prints. */
export interface ReplayAnswer {
  readonly step: number;
  readonly adv_estimator?: string;
  readonly pipelines: readonly PipelineAnswer[];
  readonly combined: PlainWeights;
  /** Milliseconds by phase, in this process. */
  readonly timings: Readonly<Record<string, number>>;
  readonly evidence: Evidence;
  readonly notes: readonly string[];
}

export function pipelineAnswers(step: RecordedStep, result: StepResult): PipelineAnswer[] {
  return result.pipelines.map((p) => ({
    name: p.name,
    mechanism: p.mechanism,
    stage: p.stage,
    granularity: p.granularity,
    weights: plainWeights(step, p),
    ...defined({ kept: p.kept && Array.from(p.kept), proportions: p.proportions }),
    metrics: p.metrics,
    ...defined({ stats: p.stats && { ...p.stats }, score_stats: p.score_stats && { ...p.score_stats } }),
    flags: p.flags,
    warnings: p.warnings,
    timings: p.timings,
  }));
}

/** Weights in the form of the recorded tensors: token weights are cut to the responses where those were ragged, else `(rows, L)`. */
export function plainWeights(step: RecordedStep, { weights, shape }: WeightArray): PlainWeights {
  const [rows = 0, width] = shape;
  if (width === undefined) return Array.from(weights);
  const padded = Object.values(step.fields).some((field) => field.kind === "tensor" && field.shape.length === 2);
  const cut = padded ? undefined : step.lengths;
  return Array.from({ length: rows }, (_, row) =>
    Array.from(weights.subarray(row * width, row * width + (cut?.[row] ?? width))),
  );
}
