import type { PipelineSpec } from "../protocol/pipeline-spec.js";
import type { StateStep } from "../protocol/saved-state.js";
import type { Batch } from "../scoring/batch/batch.js";
import type { Component, Reweighter, Scorer, Selector } from "../scoring/components/component-types.js";
import { createRegistry } from "../scoring/components/registry.js";
import { actOnScores } from "../scoring/pipeline/act.js";
import type { CallOptions } from "../scoring/pipeline/call-component.js";
import type { RunContext, ScoredRows, WeighedOutcome } from "../scoring/pipeline/outcome.js";
import { scoreRows } from "../scoring/pipeline/score.js";
import { momentsOf } from "../scoring/pipeline/stats.js";
import { weighStep } from "../scoring/pipeline/weigh-step.js";

export type Params = Readonly<Record<string, unknown>>;
export type Actuator = Reweighter | Selector;
/** One number a row, or the unmasked tokens' numbers row by row. */
export type PlainScores = number[] | number[][];

export interface RunOptions extends CallOptions {
  /** Pipeline settings where they differ from the defaults (`normalize`, `on_empty`, `group_size`, `warmup_step` …). */
  readonly settings?: Partial<PipelineSpec>;
  readonly step?: number;
  readonly trigger?: number;
  readonly run?: string;
  /** For selectors that remember: what they remembered of earlier steps. */
  readonly history?: readonly StateStep[];
}

/** A scorer alone: its scores. @throws DataflexError as the pipeline would. */
export async function run(scorer: Scorer, batch: Batch, params?: Params, options?: RunOptions): Promise<PlainScores>;
/** A scorer and an actuator as a pipeline: weights, kept rows, statistics. */
export async function run(
  pair: readonly [Scorer, Actuator],
  batch: Batch,
  params?: readonly [Params?, Params?],
  options?: RunOptions,
): Promise<WeighedOutcome>;
/** An actuator alone, on the scores given. */
export async function run(
  actuator: Actuator,
  batch: Batch,
  params: Params | undefined,
  options: RunOptions & { scores: PlainScores },
): Promise<WeighedOutcome>;
export async function run(
  component: Scorer | Actuator | readonly [Scorer, Actuator],
  batch: Batch,
  params: Params | readonly [Params?, Params?] = {},
  options: RunOptions & { scores?: PlainScores } = {},
): Promise<PlainScores | WeighedOutcome> {
  const context = contextOf(options);
  if (isPair(component)) {
    const [scorerParams, actuatorParams] = Array.isArray(params) ? (params as readonly [Params?, Params?]) : [];
    const spec = pipelineSpec(component[0], component[1], scorerParams, actuatorParams, options.settings);
    return weighStep({ spec, registry: createRegistry(component), batch, run: context }, options);
  }
  if (component.kind === "scorer") {
    const spec = pipelineSpec(component, undefined, params as Params, {}, options.settings);
    const scored = await scoreRows(spec, component, batch, context, options);
    return scored.granularity === "row" ? [...scored.values] : byRow(scored.values, batch.frame.mask.starts);
  }
  const spec = pipelineSpec(undefined, component, {}, params as Params, options.settings);
  return actOnScores(spec, component, batch, givenScores(options.scores ?? [], component), context, options);
}

/** Cuts tokens that lie row after row into rows. */
export function byRow(values: ArrayLike<number>, starts: Int32Array): number[][] {
  const all = Array.from(values);
  return Array.from({ length: starts.length - 1 }, (_, i) => all.slice(starts[i]!, starts[i + 1]!));
}

/** A pipeline with every setting at its default. */
export function pipelineSpec(
  scorer: Scorer | undefined,
  actuator: Actuator | undefined,
  scorerParams: Params = {},
  actuatorParams: Params = {},
  settings: Partial<PipelineSpec> = {},
): PipelineSpec {
  const granularity = actuator?.accepts ?? scorer?.granularity ?? "row";
  const select = actuator?.kind === "selector";
  return {
    name: "test",
    mechanism: select ? "select" : "reweight",
    stage: scorer?.timing ?? actuator?.timing ?? "post_advantage",
    scorer: { name: scorer?.name ?? "given", params: scorerParams },
    actuator: { name: actuator?.name ?? "none", params: actuatorParams },
    fields: [...(scorer?.needs ?? []), ...(actuator?.needs ?? [])],
    fingerprint: "test",
    granularity,
    normalize: select ? "none" : granularity,
    on_nonfinite: "error",
    on_empty: "drop_all",
    on_incomplete_group: "error",
    warmup_step: 0,
    update_step: 1,
    window: 1,
    ...(select && actuator.remember && { remembers: true as const }),
    shadow: false,
    ...settings,
  };
}

function contextOf({ step = 1, trigger = 0, run = "test", history }: RunOptions): RunContext {
  return { run, step, trigger, ...(history && { history }) };
}

function givenScores(scores: PlainScores, actuator: Actuator): ScoredRows {
  const values = Float64Array.from(scores.flat());
  const moments = momentsOf(values);
  return { granularity: actuator.accepts, values, dropped: [], moments, metrics: {}, flags: [], warnings: [] };
}

function isPair(component: Component | readonly [Scorer, Actuator]): component is readonly [Scorer, Actuator] {
  return Array.isArray(component);
}
