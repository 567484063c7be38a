import { encodeResult, type ResultColumns, withoutRows } from "../../columns/encode-result.js";
import type { ExtremeRows } from "../../protocol/messages.js";
import { NO_STATE } from "../../protocol/saved-state.js";
import { type Batch, createBatch } from "../../scoring/batch/batch.js";
import type { Registry } from "../../scoring/components/registry.js";
import type { RunContext } from "../../scoring/pipeline/outcome.js";
import { type PipelineInput, runPipeline } from "../../scoring/pipeline/pipeline.js";
import { assemble, type Step } from "./assemble.js";
import type { Computed } from "./host.js";
import { mixStep, promptStep } from "./state-steps.js";
import type { ComputedHeader, ComputeRequest, Remember } from "./thread-messages.js";

/** Decodes a job's columns, scores, acts, encodes the result: bytes in, bytes out. Errors: DECODE, and those of the pipeline. */
export async function scoreStep(request: ComputeRequest, registry: Registry): Promise<Computed> {
  const started = performance.now();
  const step = assemble(request);
  const decoded = performance.now();
  const batch = createBatch({
    layout: step.layout,
    columns: step.columns,
    ...(step.padding ? { isPadding: step.padding } : {}),
    ...(step.layout.lengths ? { lengths: step.layout.lengths } : {}),
  });
  const { spec, run, step: number, trigger } = request;
  const context: RunContext = { run, step: number, trigger, signal: new AbortController().signal };
  const made = await act(request, registry, batch, step, context);
  const acted = performance.now();
  const { columns, body } = encodeResult({ width: step.layout.width, ...made.columns });
  const timings = { decode: decoded - started, score: acted - decoded, encode: performance.now() - acted };
  return {
    body,
    ...(made.remember && { remember: made.remember }),
    header: {
      kind: "result",
      pipeline: spec.name,
      mechanism: spec.mechanism,
      stage: spec.stage,
      rows: step.layout.rows,
      width: step.layout.width,
      columns,
      bytes: body.byteLength,
      ...made.facts,
      timings,
    },
  };
}

/** What a job made of its step: the columns of the result, the facts of its header, what the pipeline's state remembers of it. */
export interface Made {
  readonly columns: Omit<ResultColumns, "width">;
  readonly facts: Pick<ComputedHeader, "granularity" | "metrics" | "flags" | "warnings"> &
    Partial<Pick<ComputedHeader, "stats" | "score_stats" | "distribution" | "extremes" | "proportions">>;
  readonly remember?: Remember;
}

function act(request: ComputeRequest, registry: Registry, batch: Batch, step: Step, run: RunContext): Promise<Made> {
  const { spec, state = NO_STATE } = request;
  const input = { spec, registry, batch, run, state };
  if (spec.mechanism === "mix") return mixStep(input);
  if (spec.policy !== undefined) return promptStep(input, spec.policy.role);
  return weighStep(input, step);
}

async function weighStep(input: PipelineInput, step: Step): Promise<Made> {
  const outcome = await runPipeline(input);
  const { stats, score_stats, distribution, extremes, metrics, flags, warnings, granularity } = outcome;
  return {
    columns: {
      weights: outcome.weights,
      ...(step.layout.mask ? { mask: withoutRows(step.layout.mask, step.padding) } : {}),
      ...(outcome.kept ? { kept: outcome.kept } : {}),
      ...(outcome.dropped ? { dropped: outcome.dropped } : {}),
      ...(step.padding ? { is_padding: step.padding } : {}),
    },
    facts: {
      granularity,
      ...(stats && { stats }),
      ...(score_stats && { score_stats }),
      ...(distribution && { distribution }),
      ...(extremes && { extremes: named(extremes, step) }),
      metrics,
      flags,
      warnings,
    },
    ...(outcome.remember && { remember: outcome.remember }),
  };
}

/** A uid is for people to find their row again; a longer one would only swell the header. */
const UID_LENGTH = 64;

function named(extremes: ExtremeRows, { columns }: Step): ExtremeRows {
  const uid = columns.get("uid");
  if (uid?.kind !== "strings") return extremes;
  return { ...extremes, uids: extremes.rows.map((row) => uid.table[uid.index[row]!]!.slice(0, UID_LENGTH)) };
}
