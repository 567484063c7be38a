import type { Batch } from "../../src/scoring/batch/batch.js";
import { RowVector } from "../../src/scoring/batch/row-vector.js";
import { TokenField } from "../../src/scoring/batch/token-field.js";
import type { RowComponent } from "../../src/scoring/components/component-types.js";
import { componentContext, Notes } from "../../src/scoring/pipeline/notes.js";
import { byRow, run } from "../../src/testing/run-component.js";
import type { RandomStep } from "./steps.js";

export type Params = Readonly<Record<string, unknown>>;

/** A component's own float64 numbers, before any normaliser or cast: row by row, [] for rows that are not live. */
export async function ours(
  component: RowComponent,
  batch: Batch,
  step: RandomStep,
  params: Params,
  { scores, history }: { readonly scores?: string; readonly history?: readonly number[][] },
): Promise<number[][]> {
  const onlyLive = (rows: number[][]) => rows.map((row, i) => (batch.live[i] === 1 ? row : []));
  if (component.kind === "scorer") {
    const answer = await run(component, batch, params);
    return onlyLive(answer.map((score) => (Array.isArray(score) ? score : [score])));
  }
  const visible = batch.restrict(component.needs.map((need) => need.name));
  const told = (history ?? []).map((means, k) => ({ step: k, trigger: 0, values: [["means", ...means] as const] }));
  const context = { run: "parity", step: 1000, trigger: 0, history: told };
  const ctx = componentContext(component, { name: component.name, params }, "parity", context, new Notes());
  const act = component.act as (given: unknown, batch: Batch, ctx: unknown) => unknown;
  const answer = readAnswer(act(givenScores(step, batch, scores!), visible, ctx), batch);
  const inLogSpace = component.kind === "reweighter" && component.in_log_space === true;
  return onlyLive(inLogSpace ? answer.map((row) => row.map(Math.exp)) : answer);
}

function givenScores(step: RandomStep, batch: Batch, name: string): RowVector | TokenField {
  const column = step.columns[name];
  if (column !== undefined) return batch.vector(column);
  const matrix = step.fields[name]!;
  return batch.tokens(Float64Array.from(matrix.flatMap((row, i) => row.filter((_, t) => step.mask[i]![t] === 1))));
}

function readAnswer(answer: unknown, batch: Batch): number[][] {
  if (answer instanceof TokenField) return byRow(answer.toArray(), batch.tokenStarts);
  if (answer instanceof RowVector) return [...answer.values].map((value) => [value]);
  const kept = new Set(answer as Iterable<number>);
  return Array.from({ length: batch.rows }, (_, i) => [Number(kept.has(i))]);
}
