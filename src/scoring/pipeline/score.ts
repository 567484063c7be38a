import { tokenAt } from "../../columns/span-walks.js";
import { DataflexError } from "../../errors.js";
import type { PipelineSpec } from "../../protocol/pipeline-spec.js";
import type { Batch } from "../batch/batch.js";
import { writer } from "../batch/evaluate.js";
import { liveRows } from "../batch/frame.js";
import { NonFinite } from "../batch/signals.js";
import type { TokenField } from "../batch/token-field.js";
import type { Scorer } from "../components/component-types.js";
import { namedNeeds } from "../components/needs.js";
import { type CallOptions, callComponent } from "./call-component.js";
import { checkGroups } from "./complete-groups.js";
import { underNonFinitePolicy } from "./nonfinite.js";
import { componentContext, Notes } from "./notes.js";
import type { RunContext, ScoredRows } from "./outcome.js";
import { readRows, readTokens } from "./read-answer.js";
import { type Moments, mergeMoments, momentsOf, NO_MOMENTS } from "./stats.js";

interface Values {
  readonly values: Float64Array;
  readonly moments: Moments;
}

/**
 * Scores the rows of one shard (or the whole step): float64 scores, checked on the host before anything can hide a NaN.
 * @param needsGroups whether scorer or actuator works on groups, so that incomplete ones matter.
 * @throws DataflexError NON_FINITE, INCOMPLETE_GROUP, COMPONENT, CONFIG.
 */
export async function scoreRows(
  spec: PipelineSpec,
  scorer: Scorer,
  batch: Batch,
  run: RunContext,
  { needsGroups = scorer.needs_groups, ...options }: { needsGroups?: boolean } & CallOptions = {},
): Promise<ScoredRows> {
  const notes = new Notes();
  if (spec.scorer === undefined) {
    throw new DataflexError("CONFIG", `pipeline '${spec.name}' has no scorer, nothing can be scored`, {
      pipeline: spec.name,
    });
  }
  const ref = spec.scorer;
  const { granularity } = scorer;
  const empty = () => new Float64Array(granularity === "row" ? batch.rows : batch.frame.mask.starts[batch.rows]!);
  if (batch.liveCount === 0) {
    return { granularity, values: empty(), dropped: [], moments: NO_MOMENTS, ...notes.all };
  }
  if (needsGroups) checkGroups(spec, batch, notes);
  const guarded = await underNonFinitePolicy(spec.on_nonfinite, batch, notes, async (current, own): Promise<Values> => {
    if (current.liveCount === 0) return { values: empty(), moments: NO_MOMENTS };
    return callComponent(
      scorer,
      current,
      own,
      (visible, called) => scorer.score(visible, componentContext(scorer, ref, spec.name, run, called)),
      (answer) => readScores(scorer, answer, current),
      { ...options, reads: namedNeeds(scorer.requires_named, ref.params).map((need) => need.name) },
    );
  });
  if (!guarded.ok) return { granularity, values: empty(), dropped: [], moments: NO_MOMENTS, ...notes.all };
  return { granularity, ...guarded.value, dropped: guarded.dropped, ...notes.all };
}

async function readScores(scorer: Scorer, answer: unknown, batch: Batch): Promise<Values> {
  if (scorer.granularity === "token") return tokenScores(scorer, await readTokens(scorer, answer, batch), batch);
  const scores = await readRows(scorer, answer, batch);
  const values = scores.values.map((score, i) => (batch.live[i] === 1 ? score : 0));
  const rows = liveRows(batch.frame);
  // Comparisons are made in float32, beyond which scores that differ would tie, or fall outside a band that contains them.
  const bad = rows.filter((i) => !Number.isFinite(Math.fround(values[i]!)));
  if (bad.length > 0) {
    const first = values[bad[0]!]!;
    const beyond = Number.isFinite(first) ? ", held in float32," : "";
    throw new NonFinite(`score of '${scorer.name}'${beyond}`, [...bad], undefined, Math.fround(first));
  }
  return { values, moments: momentsOf(Float64Array.from(rows, (i) => values[i]!)) };
}

function tokenScores(scorer: Scorer, field: TokenField, batch: Batch): Values {
  const { mask } = batch.frame;
  const values = new Float64Array(mask.starts[batch.rows]!);
  const write = writer(field.expression, batch.frame, mask, values, "jagged");
  let moments = NO_MOMENTS;
  // Row by row: values just written are still in the cache when their moments are computed.
  for (let i = 0; i < batch.rows; i++) {
    if (batch.live[i] !== 1) continue;
    write(i, i + 1);
    moments = mergeMoments(moments, momentsOf(values, mask.starts[i]!, mask.starts[i + 1]!));
  }
  // m2 is not finite if any value is not: only then is it necessary to search for the value.
  if (!Number.isFinite(moments.m2)) throwNonFinite(scorer, values, batch);
  return { values, moments };
}

function throwNonFinite(scorer: Scorer, values: Float64Array, batch: Batch): void {
  const { mask } = batch.frame;
  const bad: number[] = [];
  let column: number | undefined;
  let first = 0;
  for (const i of liveRows(batch.frame)) {
    const row = values.subarray(mask.starts[i]!, mask.starts[i + 1]!);
    const at = row.findIndex((value) => !Number.isFinite(value));
    if (at < 0) continue;
    if (bad.length === 0) {
      first = row[at]!;
      column = tokenAt(mask, i, at);
    }
    bad.push(i);
  }
  if (bad.length > 0) throw new NonFinite(`score of '${scorer.name}'`, bad, column, first);
}
