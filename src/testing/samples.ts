import { seededRng } from "../scoring/batch/rng.js";
import type { RowComponent } from "../scoring/components/component-types.js";
import { usualScope } from "../scoring/components/needs.js";
import type { FakeField } from "./fake-batch.js";

/** How to make a field of one's own: one list of numbers a row (a token matrix), or one number a row. */
type FieldMaker = (rng: () => number, lengths: readonly number[]) => number[][] | number[];

/** A batch as plain lists, so that properties can permute, cut and extend it; with scores for an actuator. */
export interface Sample {
  readonly label: string;
  readonly fields: Readonly<Record<string, FakeField>>;
  readonly mask: readonly (readonly number[])[];
  readonly uid: readonly string[];
  /** One number a row, or a token: `(rows, response length)`. */
  readonly scores: readonly number[] | readonly (readonly number[])[];
}

export interface SampleOptions {
  readonly fields?: Readonly<Record<string, FieldMaker>>;
  readonly seed?: number;
}

interface Plan {
  readonly label: string;
  readonly lengths: readonly number[];
  readonly groups: number;
  readonly holes: boolean;
  readonly constant?: boolean;
  /** The random numbers that values are made of lie in [0, scale). Default 1. */
  readonly scale?: number;
}

/**
 * Batches that a component must cope with: several groups, masks with holes, one row, one group, values all equal, almost equal, and large. Values are
 * continuous, so that rows differ and their order cannot matter by way of ties.
 */
export function samplesFor(component: RowComponent, { fields = {}, seed = 1 }: SampleOptions = {}): Sample[] {
  const plans: Plan[] = [
    { label: "two groups of four", lengths: [4, 3, 2, 4, 1, 3, 4, 2], groups: 2, holes: false },
    { label: "three groups, masks with holes", lengths: [5, 6, 3, 4, 6, 5, 2, 6, 4], groups: 3, holes: true },
    { label: "one group", lengths: [3, 5, 4, 2, 5], groups: 1, holes: true },
    { label: "a group for each row", lengths: [2, 4, 3], groups: 3, holes: false },
    { label: "one row", lengths: [3], groups: 1, holes: false },
    { label: "all values equal", lengths: [3, 3, 3, 3, 3, 3], groups: 2, holes: false, constant: true },
    { label: "values equal but for rounding", lengths: [3, 2, 4, 3, 1, 3], groups: 2, holes: true, scale: 1e-12 },
    { label: "large values", lengths: [4, 3, 2, 4, 1, 3, 4, 2], groups: 2, holes: true, scale: 1e4 },
  ];
  return plans.map((plan) => sample(component, plan, fields, seed));
}

function sample(
  component: RowComponent,
  plan: Plan,
  makers: Readonly<Record<string, FieldMaker>>,
  seed: number,
): Sample {
  const { lengths } = plan;
  const uid = lengths.map((_, i) => `group-${Math.floor((i * plan.groups) / lengths.length)}`);
  const maskRng = seededRng("mask", plan.label, seed);
  const mask = lengths.map((n) =>
    // The first token always counts, so that every row is live.
    Array.from({ length: n }, (_, t) => (plan.holes && t > 0 && maskRng() < 0.4 ? 0 : 1)),
  );
  const fields: Record<string, FakeField> = { response_mask: mask };
  for (const { name } of component.needs) {
    const rng = numbers(plan, "field", name, seed);
    if (name === "uid") fields[name] = uid;
    else if (name === "domain") fields[name] = lengths.map((_, i) => (i % 2 === 0 ? "math" : "code"));
    else if (name === "session") fields[name] = lengths.map((_, i) => `session-${i}`);
    else if (name !== "response_mask") fields[name] = (makers[name] ?? usualMaker(name))(rng, lengths);
  }
  const rng = numbers(plan, "scores", "", seed);
  const token = component.kind !== "scorer" && component.accepts === "token";
  const scores = token ? lengths.map((n) => Array.from({ length: n }, rng)) : lengths.map(rng);
  return { label: plan.label, fields, mask, uid, scores };
}

function numbers({ constant, label, scale = 1 }: Plan, what: string, name: string, seed: number): () => number {
  if (constant) return () => 0.5;
  const rng = seededRng(what, name, label, seed);
  return () => rng() * scale;
}

/** Values as such fields have them; unknown names get numbers around 0. */
function usualMaker(name: string): FieldMaker {
  if (usualScope(name) === undefined) return (rng, lengths) => lengths.map(() => Math.round(20 * rng()) - 10);
  if (/reward|scores/.test(name)) {
    return (rng, lengths) => lengths.map((n) => Array.from({ length: n }, (_, t) => (t === n - 1 ? rng() : 0)));
  }
  if (/log_prob/.test(name)) return (rng, lengths) => lengths.map((n) => Array.from({ length: n }, () => -3 * rng()));
  if (/entropy/.test(name)) return (rng, lengths) => lengths.map((n) => Array.from({ length: n }, () => 2 * rng()));
  if (/advantages|returns/.test(name)) {
    return (rng, lengths) =>
      lengths.map((n) => {
        const value = 2 * rng() - 1;
        return Array.from({ length: n }, () => value);
      });
  }
  return (rng, lengths) => lengths.map((n) => Array.from({ length: n }, () => 2 * rng() - 1));
}
