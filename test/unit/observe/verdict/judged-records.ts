import type { FailureRecord, ReleaseRecord, ResultRecord } from "../../../../src/observe/history/history-record.js";
import type { WeightStats } from "../../../../src/protocol/statistics-messages.js";

/** Time between two steps, ms. */
const STEP_MS = 4_000;
const about = (step: number, order: number) => {
  const at = step * STEP_MS + order;
  return { id: `${at}-0`, run: "r", incarnation: 1, step, trigger: 0, at } as const;
};

/** Of a healthy step, but for `more`. */
export const statsOf = (more: Partial<WeightStats>): WeightStats => ({
  n: 128,
  mean: 1,
  std: 0.5,
  min: 0,
  max: 2,
  ess_ratio: 0.8,
  kept_ratio: 1,
  zero_ratio: 0,
  ...more,
});

export const resultRecord = (step: number, pipeline: string, more: Partial<ResultRecord>): ResultRecord => ({
  ...about(step, 1),
  kind: "result",
  pipeline,
  mechanism: "reweight",
  stage: "post_advantage",
  granularity: "row",
  rows: 128,
  ms: 1,
  metrics: {},
  flags: [],
  warnings: [],
  timings: {},
  worker: "w",
  pid: 1,
  version: "1.0.0",
  ...more,
});

export const failureRecord = (step: number, pipeline: string, code: string): FailureRecord => ({
  ...about(step, 1),
  kind: "failure",
  pipeline,
  stage: "post_advantage",
  code,
  message: "",
  ms: 1,
  worker: "w",
});

export const releaseRecord = (step: number, more: Partial<ReleaseRecord>): ReleaseRecord => ({
  ...about(step, 2),
  kind: "released",
  wait_ms: 1,
  ...more,
});
