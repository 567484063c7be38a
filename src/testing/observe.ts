import type { RowComponent } from "../scoring/components/component-types.js";
import { type FakeField, type FakeOptions, fakeBatch } from "./fake-batch.js";
import { byRow, type Params, type PlainScores, run } from "./run-component.js";
import type { Sample } from "./samples.js";

/** What a component makes of a batch, row by row: a score or weight a row, or those of its unmasked tokens. */
export type Observed = readonly (readonly number[])[];

export interface Observer {
  readonly component: RowComponent;
  readonly params: Params;
  readonly onLeak: (leaked: number) => void;
}

/** Runs a component on a sample: a scorer's scores; an actuator's weights before normalisation, or its 0/1. */
export async function observe(observer: Observer, sample: Sample, options: FakeOptions = {}): Promise<Observed> {
  const { component, params, onLeak } = observer;
  const batch = fakeBatch(sample.fields, options);
  if (component.kind === "scorer") return rowsOf(await run(component, batch, params, { onLeak }));
  const scores = givenScores(sample);
  const settings = { normalize: "none", on_empty: "drop_all" } as const;
  const { weights } = await run(component, batch, params, { scores, onLeak, settings });
  return weights.kind === "row" ? rowsOf([...weights.values]) : byRow(weights.values, weights.offsets);
}

function rowsOf(scores: PlainScores): Observed {
  return scores.map((score) => (Array.isArray(score) ? score : [score]));
}

/** A sample's token scores are for every response token; an actuator gets those under mask 1. */
export function givenScores(sample: Sample): PlainScores {
  return sample.scores.map((score, i) =>
    Array.isArray(score) ? score.filter((_, t) => sample.mask[i]?.[t] === 1) : score,
  ) as PlainScores;
}

/** The sample made of the given rows of another, in the order given. */
export function takeRows(sample: Sample, rows: readonly number[], label: string): Sample {
  const pick = <T>(values: readonly T[]) => rows.map((row) => values[row]!);
  return {
    label: `${sample.label}, ${label}`,
    fields: Object.fromEntries(
      Object.entries(sample.fields).map(([name, field]) => [
        name,
        pick(field as readonly unknown[]) as unknown as FakeField,
      ]),
    ),
    mask: pick(sample.mask),
    uid: pick(sample.uid),
    scores: pick(sample.scores as readonly number[]),
  };
}

/** The first difference beyond 1e-9 of the size of the numbers, in words; `undefined` when there is none. */
export function difference(have: Observed, want: Observed): string | undefined {
  if (have.length !== want.length) return `${have.length} rows instead of ${want.length}`;
  for (const [i, row] of want.entries()) {
    if (have[i]!.length !== row.length) return `row ${i} has ${have[i]!.length} numbers instead of ${row.length}`;
    for (const [k, value] of row.entries()) {
      const got = have[i]![k]!;
      if (Object.is(got, value) || Math.abs(got - value) <= 1e-9 * Math.max(1, Math.abs(value))) continue;
      return `row ${i}${row.length > 1 ? `, token ${k}` : ""}: ${got} instead of ${value}`;
    }
  }
  return undefined;
}
