import type { ResultHeader } from "../../src/protocol/messages.js";
import type { PipelineSpec } from "../../src/protocol/pipeline-spec.js";
import { WEIGHT_EDGES } from "../../src/scoring/distribution.js";

/** A reweighting pipeline as mounted; nobody needs to run it. */
export function specOf(name: string): PipelineSpec {
  return {
    name,
    mechanism: "reweight",
    stage: "post_advantage",
    scorer: { name: "advantage_magnitude", params: {} },
    actuator: { name: "softmax", params: {} },
    fields: [{ name: "advantages", scope: "mask" }],
    fingerprint: "builtin-0",
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
}

/** What a worker might say of a step: numbers that move with it. */
export function resultHeader(pipeline: string, step: number): ResultHeader {
  const wave = Math.sin(step / 40);
  const ess_ratio = 0.6 + 0.25 * wave;
  const std = Math.sqrt(1 / ess_ratio - 1);
  const counts = [...WEIGHT_EDGES, 0].map((_, bin) => (bin > 3 && bin < 14 ? 2 + ((bin * 7 + step) % 9) : 0));
  return {
    v: 1,
    kind: "result",
    pipeline,
    mechanism: "reweight",
    stage: "post_advantage",
    attempt: 1,
    granularity: "row",
    rows: 64,
    ranges: [0, 64],
    width: 16,
    columns: [],
    bytes: 32,
    chunks: 1,
    chunk_bytes: 1_048_576,
    stats: { n: 64, mean: 1, std, min: 0.1, max: 4 + wave, ess_ratio, kept_ratio: 1, zero_ratio: 0 },
    score_stats: { n: 64, mean: 0.4 + 0.1 * wave, std: 0.3 },
    distribution: { weights: { counts, sum: 64, quantiles: [0.1, 0.3, 0.8, 2, 4] } },
    metrics: {},
    flags: [],
    warnings: [],
    timings: { fetch: 1, decode: 0.4, score: 2, encode: 0.2 },
    producer: { worker: "worker-1", pid: 1, job_id: "j" },
  };
}
