import { defined } from "../../defined.js";
import type { Stage } from "../../protocol/stages.js";
import type { StepResult } from "./loop.js";
import type { Rollout } from "./trainer.js";
import { perResponse, type WeightSummary } from "./weighing.js";

/** One pipeline's accepted result, as the demo keeps it. `weights` is `(rows)` or `(rows × width)`. */
interface ReceivedPipeline {
  readonly name: string;
  readonly mechanism: string;
  readonly stage: string;
  readonly weights: Float32Array;
  readonly kept?: Int32Array;
  readonly flags: readonly string[];
  readonly producer: { readonly worker: string; readonly pid: number; readonly job_id: string };
}

/** What one step exchanged with the services. */
export interface Exchange {
  readonly posted: Readonly<Partial<Record<Stage, readonly string[]>>>;
  readonly pipelines: readonly ReceivedPipeline[];
  /** Time for which the trainer was blocked in `weights()`. */
  readonly wait_ms: number;
}

/** One line of `demo --json`. Token matrices are one list a row, cut to the response's length. */
export interface StepRecord {
  readonly kind: "step";
  readonly step: number;
  readonly reward: number;
  readonly loss: number;
  readonly wait_ms: number;
  readonly weight: WeightSummary;
  readonly params_sha256: string;
  /** Every tensor that was put, by stage and field. */
  readonly posted: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly received: readonly Readonly<Record<string, unknown>>[];
  /** The weights that went into the loss. */
  readonly combined: readonly (readonly number[])[];
}

export function stepRecord(result: StepResult<Exchange>): StepRecord {
  const { rollout, extra } = result;
  return {
    kind: "step",
    step: result.step,
    reward: result.reward,
    loss: result.loss,
    wait_ms: extra.wait_ms,
    weight: result.weight,
    params_sha256: result.params_sha256,
    posted: Object.fromEntries(
      Object.entries(extra.posted).map(([stage, names]) => [
        stage,
        Object.fromEntries(names.map((name) => [name, printable(rollout, name)])),
      ]),
    ),
    received: extra.pipelines.map(({ weights, kept, ...rest }) => ({
      ...rest,
      weights: weights.length === rollout.rows ? Array.from(weights) : perResponse(weights, rollout),
      ...defined({ kept: kept && Array.from(kept) }),
    })),
    combined: perResponse(result.weights, rollout),
  };
}

/** Fields the demo's trainer can post. */
export const DEMO_FIELDS = [
  "rm_scores",
  "response_mask",
  "uid",
  "domain",
  "advantages",
  "old_log_probs",
  "entropy",
] as const satisfies readonly (keyof Rollout)[];
export type DemoField = (typeof DEMO_FIELDS)[number];

export function isDemoField(name: string): name is DemoField {
  return (DEMO_FIELDS as readonly string[]).includes(name);
}

function printable(rollout: Rollout, name: string): unknown {
  if (!isDemoField(name)) return null;
  const value = rollout[name];
  return ArrayBuffer.isView(value) ? perResponse(value, rollout) : value;
}
