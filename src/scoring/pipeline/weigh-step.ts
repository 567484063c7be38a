import { DataflexError } from "../../errors.js";
import type { PipelineSpec } from "../../protocol/pipeline-spec.js";
import type { Batch } from "../batch/batch.js";
import type { Reweighter, Scorer, Selector } from "../components/component-types.js";
import type { Registry } from "../components/registry.js";
import { actOnScores } from "./act.js";
import type { CallOptions } from "./call-component.js";
import { Notes } from "./notes.js";
import type { PipelineInput, RunContext, WeighedOutcome } from "./outcome.js";
import { earlierSteps } from "./remember.js";
import { scoreRows } from "./score.js";
import { finish, neutralAction, zeroAction } from "./weights.js";

/**
 * Scores a whole step and acts on the scores. Before `warmup_step`, and where no row is live, no component runs.
 * @throws DataflexError as `scoreRows` and `actOnScores`; COMPONENT_UNKNOWN.
 */
export async function weighStep(input: PipelineInput, options: CallOptions = {}): Promise<WeighedOutcome> {
  const { spec, registry, batch } = input;
  const { scorer, actuator } = componentsOf(spec, registry);
  const run = input.state === undefined ? input.run : { ...input.run, history: earlierSteps(input) };
  const settled = withoutComponents(spec, actuator, batch, run);
  if (settled !== undefined) return withKept(spec, settled);
  const needsGroups = scorer.needs_groups || actuator.needs_groups;
  const scored = await scoreRows(spec, scorer, batch, run, { ...options, needsGroups });
  return withKept(spec, await actOnScores(spec, actuator, batch, scored, run, options));
}

/** A selection says what it kept also where no selector ran: nothing, or during warm-up everything. */
function withKept(spec: PipelineSpec, outcome: WeighedOutcome): WeighedOutcome {
  const { weights, kept } = outcome;
  if (spec.mechanism !== "select" || kept !== undefined) return outcome;
  const { values } = weights;
  const starts = weights.kind === "token" ? weights.offsets : undefined;
  const rows: number[] = [];
  for (let row = 0; row < (starts ? starts.length - 1 : values.length); row++) {
    const own = starts ? values.subarray(starts[row]!, starts[row + 1]!) : values.subarray(row, row + 1);
    if (own.some((weight) => weight > 0)) rows.push(row);
  }
  return { ...outcome, kept: Int32Array.from(rows) };
}

/** The outcome of a step for which no component needs to run (warm-up, no live rows), else `undefined`. */
function withoutComponents(
  spec: PipelineSpec,
  actuator: Reweighter | Selector,
  batch: Batch,
  run: RunContext,
): WeighedOutcome | undefined {
  const notes = new Notes();
  if (batch.liveCount === 0) return finish(zeroAction(actuator.accepts, batch), batch, notes);
  if (run.step >= spec.warmup_step) return undefined;
  return finish(neutralAction(actuator.accepts, batch), batch, notes, ["warmup"]);
}

/** Scorer and actuator of a pipeline that weighs rows or tokens. @throws DataflexError COMPONENT_UNKNOWN, CONFIG. */
function componentsOf(spec: PipelineSpec, registry: Registry): { scorer: Scorer; actuator: Reweighter | Selector } {
  if (spec.mechanism === "mix" || spec.scorer === undefined) {
    throw new DataflexError(
      "CONFIG",
      `pipeline '${spec.name}' (${spec.mechanism}) has no scores to act on step by step`,
      {
        pipeline: spec.name,
        mechanism: spec.mechanism,
      },
    );
  }
  const kind = spec.mechanism === "reweight" ? "reweighter" : "selector";
  return { scorer: registry.get("scorer", spec.scorer.name), actuator: registry.get(kind, spec.actuator.name) };
}
