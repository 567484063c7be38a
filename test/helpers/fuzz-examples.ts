import { DEFAULT_LIMITS } from "../../src/columns/limits.js";
import type { Handle } from "../../src/protocol/messages.js";

const producer = { worker: "w", pid: 1, job_id: "j" };
const outcome = { v: 2, pipeline: "main", stage: "post_advantage", attempt: 1, producer };
const stats = { n: 2, mean: 1, std: 0, min: 1, max: 1, ess_ratio: 1, kept_ratio: 1, zero_ratio: 0 };
const chunks = { bytes: 16, chunks: 1, chunk_bytes: 1 << 20 };

/** Two weights, then two lengths. */
export const BODY = Uint8Array.from([0, 0, 128, 63, 0, 0, 128, 63, 3, 0, 0, 0, 2, 0, 0, 0]);
const columns = (values: string, mask: string) => [
  { name: values, enc: "dense", dtype: "f32", shape: [2], parts: { values: [0, 8] } },
  { name: mask, enc: "lengths", dtype: "bool", shape: [2, 3], scope: "response", parts: { lengths: [8, 8] } },
];
const result = {
  ...outcome,
  ...chunks,
  kind: "result",
  mechanism: "reweight",
  granularity: "row",
  rows: 2,
  ranges: [0, 2],
  width: 3,
  columns: columns("weights", "mask"),
  metrics: { a: 1.5 },
  flags: ["all_zero"],
  warnings: ["w"],
  timings: { fetch: 1, decode: 1, score: 1, encode: 1 },
  stats,
  score_stats: { n: 2, mean: 1, std: 0 },
  distribution: { weights: { counts: [1], sum: 2, quantiles: [1, 1, 1, 1, 1] }, scores: { counts: [1], sum: 2 } },
  extremes: { rows: [0, 1], weights: [1, 1], scores: [1, 2], uids: ["a", "b"] },
  proportions: { math: 0.5 },
};
const fields = [{ name: "advantages", scope: "mask" }];
const spec = {
  name: "main",
  mechanism: "reweight",
  stage: "post_advantage",
  actuator: { name: "softmax", params: { temperature: 1 } },
  scorer: { name: "advantage_magnitude", params: {} },
  fields,
  fingerprint: "f",
  granularity: "row",
  normalize: "row",
  on_nonfinite: "error",
  on_empty: "drop_all",
  on_incomplete_group: "error",
  warmup_step: 0,
  update_step: 1,
  window: 50,
  shadow: false,
};
const handle = {
  v: 2,
  run: "r",
  mount_id: "m",
  limits: { ...DEFAULT_LIMITS },
  stages: { post_advantage: fields },
  pipelines: [spec],
  composition: { combine: "multiply", rescale: "none", clip: [0.1, 2] },
  max_wait_ms: 1_000,
  on_unavailable: "error",
  warnings: [],
  incarnation: 1,
};
export const HANDLE = handle as unknown as Handle;

const dataflex = {
  clip: [0.1, 10],
  pipelines: {
    main: {
      mechanism: "reweight",
      scorer: { name: "advantage_magnitude" },
      actuator: { name: "softmax", params: { temperature: 1 } },
    },
    mix: { mechanism: "mix", actuator: { name: "reward_gap", params: {} }, domains: ["math", "code"], prior: [1, 2] },
    kept: {
      mechanism: "select",
      scorer: { name: "outcome_reward" },
      actuator: { name: "threshold_band", params: { low: 0, high: 1 } },
    },
  },
};

/** A sound message of every kind that enters a process. */
export const EXAMPLES = {
  put: {
    v: 2,
    id: "a",
    hash: "b",
    stage: "post_advantage",
    total_rows: 2,
    rows: [0, 2],
    columns: columns("advantages", "response_mask"),
    ...chunks,
  },
  mount: {
    v: [2],
    kind: "mount",
    mount_id: "m",
    run: "r",
    dataflex,
    takeover: false,
    deadline: 1,
    trainer: { loss_mode: "vanilla" },
  },
  settings: dataflex,
  file: { algorithm: { adv_estimator: "grpo" }, actor_rollout_ref: { rollout: { n: 4 } }, dataflex },
  job: {
    run: "r",
    incarnation: 1,
    step: "1.0",
    stage: "post_advantage",
    pipeline: "main",
    attempt: 1,
    content: "c",
    shard: [0, 2],
    deadline: 1,
    added: 1,
  },
  result,
  failure: { ...outcome, kind: "failure", code: "DECODE", message: "m", details: { row: 1 } },
  handle,
  reply: {
    state: "answered",
    answer: { ok: false, code: "CONFIG", message: "m", problems: [{ path: ["a"], message: "m" }] },
  },
  state: [1, "reward_gap {}", [["math", 1, 2]]],
  saved: { v: 1, pipeline: "main", steps: { "1.0": { inc: 1, by: "reward_gap {}", values: [["math", 1, 2]] } } },
  settled: result,
  mounted: { version: "0.1.0", settings: { "main.window": "50" } },
  released: { wait_ms: 1, combined: { level: "sample", stats, product: stats, clipped: { low: 0, high: 0 } } },
  http: { run: "r", after: "1-1" },
} as const;
