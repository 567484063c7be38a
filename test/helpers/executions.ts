import type { ResultHeader } from "../../src/protocol/messages.js";
import type { PipelineSpec } from "../../src/protocol/pipeline-spec.js";
import type { JobExecution } from "../../src/worker/job-context.js";

/** A pipeline as a mount resolves it: advantage_magnitude × softmax at post_advantage. */
export function specOf(more: Partial<PipelineSpec> = {}): PipelineSpec {
  return {
    name: "main",
    mechanism: "reweight",
    stage: "post_advantage",
    scorer: { name: "advantage_magnitude", params: {} },
    actuator: { name: "softmax", params: { temperature: 1 } },
    fields: [{ name: "advantages", scope: "mask" }],
    fingerprint: "builtin",
    granularity: "row",
    normalize: "row",
    on_nonfinite: "error",
    on_empty: "drop_all",
    on_incomplete_group: "error",
    warmup_step: 0,
    update_step: 1,
    window: 16,
    shadow: false,
    ...more,
  };
}

/** A result of 8 rows: weights 2, 2, 2, 2, 0, 0, 0, 0. */
export function resultOf(more: Partial<ResultHeader> = {}): ResultHeader {
  return {
    v: 2,
    kind: "result",
    pipeline: "main",
    mechanism: "reweight",
    stage: "post_advantage",
    attempt: 1,
    granularity: "row",
    rows: 8,
    ranges: [0, 8],
    width: 8,
    columns: [{ name: "weights", enc: "dense", dtype: "f32", shape: [8], parts: { values: [0, 32] } }],
    bytes: 32,
    chunks: 1,
    chunk_bytes: 1_048_576,
    stats: { n: 8, mean: 1, std: 1, min: 0, max: 2, ess_ratio: 0.5, kept_ratio: 0.5, zero_ratio: 0.5 },
    score_stats: { n: 8, mean: 0.25, std: 0.125 },
    metrics: {},
    flags: [],
    warnings: [],
    timings: { fetch: 1, decode: 2, score: 4, encode: 1 },
    producer: { worker: "w", pid: 1, job_id: "j" },
    ...more,
  };
}

/** A completed execution of that pipeline's job. */
export function executionOf(more: Partial<JobExecution> = {}): JobExecution {
  return {
    job: {
      run: "r",
      incarnation: 1,
      step: "3.0",
      stage: "post_advantage",
      pipeline: "main",
      attempt: 1,
      content: "c0ffee",
      shard: [0, 1],
      deadline: 2_000,
      added: 1_000,
    },
    spec: specOf(),
    outcome: "completed",
    result: resultOf(),
    waitMs: 3,
    totalMs: 25,
    readBytes: 96,
    writtenBytes: 32,
    readColumns: [
      { name: "advantages", enc: "row", dtype: "f64", shape: [8, 8], scope: "mask", parts: { values: [0, 64] } },
      { name: "response_mask", enc: "lengths", dtype: "i64", shape: [8, 8], parts: { lengths: [64, 32] } },
    ],
    tokens: 36,
    publishMs: 5,
    ...more,
  };
}
