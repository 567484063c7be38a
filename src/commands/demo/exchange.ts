import type { Run } from "../../client/run.js";
import type { FieldValue } from "../../columns/tensor.js";
import { defined } from "../../defined.js";
import { DataflexError } from "../../errors.js";
import { STAGES, type Stage } from "../../protocol/stages.js";
import { DEMO_FIELDS, type DemoField, type Exchange, isDemoField } from "./demo-record.js";
import type { Weighed } from "./loop.js";
import type { Rollout } from "./trainer.js";

/** A step's weights: long enough for a worker that was killed to be replaced, short enough not to seem hung. */
const STEP_TIMEOUT_MS = 30_000;

/**
 * Sends one rollout through the services, as a trainer would: what `post_reward` wants first, then what `post_advantage` wants,
 * then it waits for the weights and releases the step.
 *
 * @throws whatever settled a pipeline; TIMEOUT
 */
export async function exchangeStep(run: Run, rollout: Rollout): Promise<Weighed<Exchange>> {
  const posted: Partial<Record<Stage, readonly string[]>> = {};
  for (const stage of STAGES) {
    const names = run.handle.stages[stage]?.map(({ name }) => name);
    if (names === undefined || names.length === 0) continue;
    await run.put(rollout.step, stage, pickFields(rollout, names), {
      total_rows: rollout.rows,
      lengths: rollout.lengths,
    });
    posted[stage] = names;
  }
  const result = await run.weights(rollout.step, { timeoutMs: STEP_TIMEOUT_MS });
  const weights = result.rolloutIsWeights(fieldOf(rollout, "response_mask"));
  await run.release(rollout.step);
  const pipelines = result.pipelines.map((p) => ({
    name: p.name,
    mechanism: p.mechanism,
    stage: p.stage,
    weights: p.weights,
    ...defined({ kept: p.kept }),
    flags: p.flags,
    producer: p.producer,
  }));
  return { weights, extra: { posted, pipelines, wait_ms: result.waitedMs } };
}

function pickFields(rollout: Rollout, names: readonly string[]): Record<string, FieldValue> {
  const unknown = names.filter((name) => !isDemoField(name));
  if (unknown.length > 0) {
    const message = `the configuration needs ${unknown.join(", ")}; the demo's trainer has ${DEMO_FIELDS.join(", ")}`;
    throw new DataflexError("CONFIG", message, { missing: unknown });
  }
  return Object.fromEntries(names.filter(isDemoField).map((name) => [name, fieldOf(rollout, name)]));
}

function fieldOf(rollout: Rollout, name: DemoField): FieldValue {
  const value = rollout[name];
  if (!ArrayBuffer.isView(value)) return { kind: "strings", values: value };
  const dtype = value instanceof Uint8Array ? "u8" : "f32";
  return { kind: "tensor", dtype, shape: [rollout.rows, rollout.width], data: value };
}
