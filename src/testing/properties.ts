import { seededRng } from "../scoring/batch/rng.js";
import { ENCODE_AS } from "./encode-tokens.js";
import { type FakeField, fakeBatch, roundTo } from "./fake-batch.js";
import { difference, givenScores, type Observed, type Observer, observe, takeRows } from "./observe.js";
import { run } from "./run-component.js";
import type { Sample } from "./samples.js";

/** One thing that must hold on a sample: answers with what is wrong, or nothing. `base` is the component's plain result. */
export type Property = (observer: Observer, sample: Sample, base: Observed) => Promise<string | undefined>;

const finite: Property = async ({ component }, _sample, base) => {
  for (const [i, row] of base.entries()) {
    const bad = row.find((value) => !Number.isFinite(value) || (component.kind !== "scorer" && value < 0));
    if (bad !== undefined) return `row ${i} is ${bad}`;
  }
  return undefined;
};

const shape: Property = async ({ component }, sample, base) => {
  const token = (component.kind === "scorer" ? component.granularity : component.accepts) === "token";
  const want = sample.mask.map((row) => (token ? row.filter((value) => value === 1).length : 1));
  const wrong = want.findIndex((n, i) => base[i]?.length !== n);
  return wrong < 0 ? undefined : `row ${wrong} has ${base[wrong]?.length ?? 0} numbers, expected ${want[wrong]}`;
};

/** Delivered weights: a selector's are 0 or 1, a reweighter's have mean one over live rows or tokens, unless all are 0. */
const range: Property = async ({ component, params, onLeak }, sample) => {
  if (component.kind === "scorer") return undefined;
  const settings = { on_empty: "drop_all" } as const;
  const options = { scores: givenScores(sample), onLeak, settings };
  const { weights, flags } = await run(component, fakeBatch(sample.fields), params, options);
  const values = [...weights.values];
  if (component.kind === "selector") {
    const other = values.find((value) => value !== 0 && value !== 1);
    return other === undefined ? undefined : `a selector gives weight ${other}`;
  }
  const mean = values.reduce((a, b) => a + b, 0) / values.length;
  return Math.abs(mean - (flags.includes("all_zero") ? 0 : 1)) < 1e-5 ? undefined : `the mean weight is ${mean}`;
};

const determinism: Property = async (observer, sample, base) => {
  const again = await observe(observer, sample);
  const same = base.every((row, i) => row.every((value, k) => Object.is(value, again[i]![k])));
  return same ? undefined : "two runs on the same batch differ";
};

const permutation: Property = async (observer, sample, base) => {
  if (sample.label.includes("equal")) return undefined; // ties are settled by row number, which permuting changes
  const rng = seededRng("permutation", sample.label);
  const order = base.map((_, i) => i);
  for (let i = order.length - 1; i > 0; i--) {
    const j = Math.floor(rng() * (i + 1));
    [order[i], order[j]] = [order[j]!, order[i]!];
  }
  const moved = await observe(observer, takeRows(sample, order, "rows permuted"));
  return difference(
    moved,
    order.map((row) => base[row]!),
  );
};

const padding: Property = async (observer, sample, base) => {
  const n = base.length;
  // A padding row that looks like row 0, and a fully masked row in row 0's group, both with values of their own.
  const longer = takeRows(sample, [...base.keys(), 0, n - 1], "with padding and a masked row");
  const mask = longer.mask.map((row, i) => (i === n + 1 ? row.map(() => 0) : row));
  const extended = { ...longer, mask, fields: { ...longer.fields, response_mask: mask } };
  const is_padding = extended.mask.map((_, i) => i === n);
  const result = await observe(observer, extended, { is_padding });
  const added = result
    .slice(n)
    .flat()
    .find((value) => value !== 0);
  if (added !== undefined && observer.component.kind !== "scorer")
    return `a row that does not count got weight ${added}`;
  return difference(result.slice(0, n), base);
};

const garbage: Property = async (observer, sample, base) => {
  const rubbish = [Number.NaN, Number.POSITIVE_INFINITY, -1e10, 1e300];
  const masked = observer.component.needs.filter((need) => need.scope === "mask").map((need) => need.name);
  const fields = Object.fromEntries(
    Object.entries(sample.fields).map(([name, field]) => {
      if (!masked.includes(name) || !Array.isArray(field[0])) return [name, field];
      const matrix = field as readonly (readonly number[])[];
      const spoilt = matrix.map((row, i) => row.map((v, t) => (sample.mask[i]![t] === 1 ? v : rubbish[t % 4]!)));
      return [name, spoilt as FakeField];
    }),
  );
  const result = await observe(observer, { ...sample, fields }, { encode: "dense" });
  const clean = await observe(observer, sample, { encode: "dense" });
  const same = clean.every((row, i) => row.every((value, k) => Object.is(value, result[i]![k])));
  return same ? difference(result, base) : "numbers under mask 0 change the result";
};

const encodings: Property = async (observer, sample, base) => {
  for (const encode of ENCODE_AS) {
    const wrong = difference(await observe(observer, sample, { encode }), base);
    if (wrong !== undefined) return `encoded ${encode}: ${wrong}`;
  }
  return undefined;
};

/** For numbers that bf16 can hold, the dtype in which they are sent changes nothing. */
const dtypes: Property = async (observer, sample) => {
  const round = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(round) : typeof value === "number" ? roundTo(value, "bf16") : value;
  const fields = Object.fromEntries(
    Object.entries(sample.fields).map(([name, field]) => [name, round(field) as FakeField]),
  );
  const exact = await observe(observer, { ...sample, fields });
  for (const dtype of ["f32", "bf16"] as const) {
    const wrong = difference(await observe(observer, { ...sample, fields }, { dtype }), exact);
    if (wrong !== undefined) return `as ${dtype}: ${wrong}`;
  }
  return undefined;
};

const sharding: Property = async (observer, sample, base) => {
  for (const rows of shards(observer, sample)) {
    const part = await observe(observer, takeRows(sample, rows, `rows ${rows.join(" ")} alone`));
    const wrong = difference(
      part,
      rows.map((row) => base[row]!),
    );
    if (wrong !== undefined)
      return `declared rows: "${observer.component.rows}", but rows ${rows.join(" ")} alone give ${wrong}`;
  }
  return undefined;
};

/** The cuts of a sample that `rows` allows. */
function shards({ component }: Observer, sample: Sample): number[][] {
  const all = [...sample.uid.keys()];
  if (component.rows === "batch") return [];
  if (component.rows === "group") {
    return [...new Set(sample.uid)].map((uid) => all.filter((row) => sample.uid[row] === uid));
  }
  return [all.filter((row) => row % 2 === 0), all.filter((row) => row % 2 === 1)].filter((rows) => rows.length > 0);
}

const allMasked: Property = async (observer, sample) => {
  const mask = sample.mask.map((row) => row.map(() => 0));
  const result = await observe(observer, { ...sample, mask, fields: { ...sample.fields, response_mask: mask } });
  const bad = result.flat().find((value) => value !== 0);
  return bad === undefined ? undefined : `a batch without unmasked tokens gives ${bad} instead of 0`;
};

const empty: Property = async (observer, sample) => {
  const result = await observe(observer, takeRows(sample, [], "no rows"));
  return result.length === 0 ? undefined : `a batch without rows gives ${result.length} rows`;
};

export const PROPERTIES = {
  shape,
  finite,
  range,
  determinism,
  permutation,
  padding,
  garbage,
  encodings,
  dtypes,
  sharding,
  all_masked: allMasked,
  empty,
} as const satisfies Record<string, Property>;
export type PropertyName = keyof typeof PROPERTIES;
