import { createHash } from "node:crypto";
import { ENCODINGS } from "../../columns/tensor.js";
import { JOB_OUTCOMES, STEP_OUTCOMES } from "../../protocol/outcome-words.js";
import { MECHANISMS } from "../../protocol/pipeline-spec.js";
import { STAGES } from "../../protocol/stages.js";
import { COMPONENT_COUNTS } from "../../scoring/components/counts.js";
import { QUANTILES } from "../../scoring/distribution.js";
import { BACKENDS } from "../../worker/compute/thread-messages.js";
import { REASON_KINDS } from "../verdict/reason-kinds.js";
import { FAILURE_REASONS } from "./reasons.js";

/** Replaces a value that is not in a label's vocabulary, or beyond its cap. */
export const OTHER = "_other";
/** A pipeline whose scorer is not known (its run's mount is gone), or that has none. */
export const NO_SCORER = "_none";

/**
 * Every label there is. `values`: a closed list. `cap`: values come from configuration; at most so many live at a time in one
 * process, the rest becomes `_other`. A step, row, group, job, process, host, key, path or text is never a label: a series for
 * each of them would outgrow every scrape.
 */
export const LABELS = {
  run: { cap: 32, means: "training run (run id, shortened)" },
  pipeline: { cap: 128, means: "name under which a pipeline is mounted" },
  delivered: { values: ["true", "false"], means: "false for a shadow, which is measured and never delivered" },
  stage: { values: STAGES, means: "stage" },
  mechanism: { values: MECHANISMS, means: "mechanism" },
  level: { values: ["sample", "token"], means: "one weight per row, or one per token" },
  scorer: { cap: 64, means: "registered scorer" },
  actuator: { cap: 64, means: "registered actuator" },
  queue: { cap: 64, means: "stage and catalogue fingerprint" },
  state: {
    values: ["waiting", "active", "delayed", "prioritized", "waiting-children", "failed"],
    means: "state of a job",
  },
  outcome: {
    values: [...new Set([...Object.keys(JOB_OUTCOMES), ...Object.keys(STEP_OUTCOMES)])],
    means: "how it ended",
  },
  reason: { values: FAILURE_REASONS, means: "kind of failure" },
  phase: { values: ["fetch", "decode", "score", "encode", "publish"], means: "phase of a job" },
  direction: { values: ["in", "out"], means: "read by the worker, or written" },
  encoding: { values: ENCODINGS, means: "encoding of a column" },
  q: { values: QUANTILES.map(String), means: "quantile" },
  side: { values: ["low", "high"], means: "which bound" },
  code: { values: REASON_KINDS.map(({ code }) => code), means: "what can be wrong with a run" },
  count: { values: Object.keys(COMPONENT_COUNTS), means: "what a built-in component counted" },
  domain: { cap: 64, means: "domain of a mixer" },
  point: { values: ["enqueued", "published", "applied"], means: "how far a step has come" },
  stream: { values: ["control", "announce", "notices", "dead"], means: "logical name of a stream" },
  group: { values: ["broker", "leader"], means: "who reads it" },
  check: { values: ["maxmemory_policy", "version", "maxmemory", "aof", "acl", "tls"], means: "a Redis setting" },
  backend: { values: BACKENDS.filter((name) => name !== "auto"), means: "compute backend" },
  requested: { values: BACKENDS, means: "backend that was asked for" },
  device: { values: ["cpu", "gpu"], means: "kind of device" },
  precision: { values: ["float32", "float64"], means: "precision of row arithmetic" },
  role: { values: ["broker", "worker"], means: "role of the process" },
  version: { cap: 1, means: "package version" },
  node: { cap: 1, means: "Node version" },
  bullmq: { cap: 1, means: "BullMQ version" },
  tfjs: { cap: 1, means: "TensorFlow.js version" },
  protocol: { cap: 1, means: "highest protocol version" },
  metric: { cap: 128, means: "name of a metric of this table" },
  drop: { values: ["nonfinite", "negative", "error"], means: "why a value was not recorded" },
} as const satisfies Record<string, { values: readonly string[]; means: string } | { cap: number; means: string }>;

export type LabelName = keyof typeof LABELS;

/** Longest label value that fits a legend. */
const RUN_LABEL_LENGTH = 64;

/**
 * A run id as label value, at most 64 plain characters. An id that had to be changed ends in `~` and a hash of all of it, so that
 * no two runs share a series.
 */
export function runLabel(run: string): string {
  const plain = run.replace(/[^A-Za-z0-9._/:@+=-]/g, "_");
  const asItIs = plain === run && run !== "" && run !== OTHER && run.length <= RUN_LABEL_LENGTH;
  if (asItIs) return run;
  const hash = createHash("sha256").update(run).digest("hex").slice(0, 10);
  return `${plain.slice(0, RUN_LABEL_LENGTH - hash.length - 1)}~${hash}`;
}
