import { DataflexError } from "../../errors.js";
import type { PipelineSpec } from "../../protocol/pipeline-spec.js";
import type { StateValue } from "../../protocol/saved-state.js";
import type { Batch } from "../batch/batch.js";
import { RowVector } from "../batch/row-vector.js";
import type { Reweighter, Selector } from "../components/component-types.js";
import { type CallOptions, callComponent } from "./call-component.js";
import { underNonFinitePolicy } from "./nonfinite.js";
import { componentContext, Notes } from "./notes.js";
import type { RunContext, ScoredRows, WeighedOutcome } from "./outcome.js";
import { tokenField } from "./read-answer.js";
import { remembered } from "./remember.js";
import { reweightRows, reweightTokens } from "./reweight.js";
import { selectRows, selectTokens } from "./select.js";
import { momentsOf, scoreBins, scoreStats } from "./stats.js";
import { type Action, finish, neutralAction, zeroAction } from "./weights.js";

/**
 * Turns the scores of a whole step into its action: reweight → check → normalise, or select → 0/1.
 * @param batch all rows of the step, with the fields the actuator needs.
 * @throws DataflexError COMPONENT (weights negative, not finite, of the wrong shape; kept rows that do not exist), EMPTY_SELECTION,
 * NON_FINITE (a field the actuator reads), CONFIG.
 */
export async function actOnScores(
  spec: PipelineSpec,
  actuator: Reweighter | Selector,
  batch: Batch,
  scored: ScoredRows,
  run: RunContext,
  options: CallOptions = {},
): Promise<WeighedOutcome> {
  const notes = new Notes(scored.warnings, scored.metrics);
  for (const flag of scored.flags) notes.flag(flag);
  if (actuator.accepts !== scored.granularity) {
    throw new DataflexError(
      "COMPONENT",
      `${actuator.kind} '${actuator.name}' accepts ${actuator.accepts} scores, the scorer gives ${scored.granularity} scores`,
      { actuator: actuator.name, accepts: actuator.accepts, granularity: scored.granularity },
    );
  }
  const alive = batch.without(scored.dropped);
  if (alive.liveCount === 0) {
    return withDropped(finish(zeroAction(actuator.accepts, alive), alive, notes, scored.flags), scored.dropped);
  }
  if (scored.flags.includes("neutral_nonfinite")) return finish(neutralAction(actuator.accepts, alive), alive, notes);

  let entry: readonly StateValue[] | undefined;
  const guarded = await underNonFinitePolicy(spec.on_nonfinite, alive, notes, (current, own): Promise<Action> => {
    if (current.liveCount === 0) return Promise.resolve(zeroAction(actuator.accepts, current));
    return callComponent(
      actuator,
      current,
      own,
      (visible, called) => {
        const ctx = componentContext(actuator, spec.actuator, spec.name, run, called);
        // The scores' shape was compared with `accepts` above; the type system cannot see that the two agree.
        const act = actuator.act as (scores: unknown, batch: Batch, ctx: unknown) => unknown;
        const scores = scoresOf(scored, visible);
        if (actuator.kind !== "selector" || actuator.remember === undefined) return act(scores, visible, ctx);
        const noted = (actuator.remember as typeof act)(scores, visible, ctx);
        // Awaited only if necessary: a synchronous component's tensors are tidied in another way.
        if (noted instanceof Promise) {
          return noted.then((values: readonly StateValue[]) => {
            entry = values;
            return act(scores, visible, ctx);
          });
        }
        entry = noted as readonly StateValue[];
        return act(scores, visible, ctx);
      },
      (answer) => actionOf(spec, actuator, answer, current, own),
      options,
    );
  });
  const facts = { score: rowScore(scored, batch) };
  const made = guarded.ok
    ? finish(guarded.value, guarded.batch, notes, [], facts)
    : finish(neutralAction(actuator.accepts, alive), alive, notes, [], facts);
  const distribution = { ...made.distribution, scores: scoreBins(scored, alive) };
  const remember = guarded.ok && entry ? remembered(actuator, spec, entry) : undefined;
  const whole = { ...made, score_stats: scoreStats(scored.moments), distribution, ...(remember && { remember }) };
  return withDropped(whole, [...scored.dropped, ...(guarded.ok ? guarded.dropped : [])]);
}

/** Whatever composes these weights with others must ignore the dropped rows too. */
function withDropped(outcome: WeighedOutcome, dropped: readonly number[]): WeighedOutcome {
  return dropped.length === 0 ? outcome : { ...outcome, dropped: Int32Array.from(dropped).sort() };
}

/** A row's score; for token scores their mean. */
function rowScore({ granularity, values }: ScoredRows, batch: Batch): (row: number) => number {
  if (granularity === "row") return (row) => values[row]!;
  const { starts } = batch.frame.mask;
  return (row) => momentsOf(values, starts[row]!, starts[row + 1]!).mean;
}

function scoresOf(scored: ScoredRows, batch: Batch) {
  if (scored.granularity === "row") return new RowVector(scored.values, batch.frame);
  const { rows, width } = batch;
  const offsets = batch.frame.mask.starts;
  const column = { kind: "jagged", dtype: "f64", scope: "mask", rows, width, offsets, values: scored.values } as const;
  return tokenField("scores", column, batch);
}

function actionOf(
  spec: PipelineSpec,
  actuator: Reweighter | Selector,
  answer: unknown,
  batch: Batch,
  notes: Notes,
): Promise<Action> {
  if (actuator.kind === "reweighter") {
    const reweight = actuator.accepts === "row" ? reweightRows : reweightTokens;
    return reweight(spec.normalize, actuator, answer, batch, notes);
  }
  const select = actuator.accepts === "row" ? selectRows : selectTokens;
  return select(spec, actuator, answer, batch, notes);
}
