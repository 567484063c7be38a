import { Random } from "./random.js";

/** Responses a prompt. */
export const GROUP = 4;
export const DOMAINS = ["math", "code"] as const;

/** What a step's trainer has: one entry a row in every list; `advantages`, `rewards` (rows,), `logProbs` (rows, width) within float32. */
export interface Content {
  readonly width: number;
  readonly keys: readonly string[];
  readonly lengths: readonly number[];
  readonly uid: readonly string[];
  readonly domain: readonly string[];
  readonly advantages: readonly number[];
  readonly rewards: readonly number[];
  readonly logProbs: readonly (readonly number[])[];
}

/** `version` tells apart contents of one step: a draft and what replaces it. */
export function contentOf(seed: number, run: string, step: number, version: number): Content {
  // The shape is the step's; a replacement brings other values for the same rows.
  const shape = new Random(seed, run, step, "shape");
  const rows = GROUP * shape.int(2, 6);
  const width = shape.int(3, 10);
  const lengths = Array.from({ length: rows }, () => shape.int(1, width + 1));
  const value = new Random(seed, run, step, "values", version);
  const list = <T>(make: (row: number) => T): T[] => Array.from({ length: rows }, (_, row) => make(row));
  return {
    width,
    keys: list((row) => `s${step}-${row}`),
    lengths,
    uid: list((row) => `s${step}-prompt-${Math.floor(row / GROUP)}`),
    domain: list((row) => DOMAINS[Math.floor(row / GROUP) % DOMAINS.length]!),
    advantages: list(() => Math.fround(value.between(-2, 2))),
    rewards: list(() => Number(value.chance(0.5))),
    logProbs: list(() => Array.from({ length: width }, () => Math.fround(-value.between(0, 4)))),
  };
}

/** The named fields of some rows, as a trainer holds them: token matrices padded with 0, strings a row. */
export function fieldsOf(content: Content, names: readonly string[], rows: readonly number[]): Fields {
  return Object.fromEntries(names.map((name) => [name, rows.map((row) => FIELDS[name]!(content, row))]));
}
export type Fields = Readonly<Record<string, readonly (string | readonly number[])[]>>;

const tokens = (c: Content, row: number, value: (t: number) => number): number[] =>
  Array.from({ length: c.width }, (_, t) => (t < c.lengths[row]! ? value(t) : 0));

const FIELDS: Readonly<Record<string, (content: Content, row: number) => string | number[]>> = {
  response_mask: (c, row) => tokens(c, row, () => 1),
  advantages: (c, row) => tokens(c, row, () => c.advantages[row]!),
  rm_scores: (c, row) => tokens(c, row, (t) => (t === c.lengths[row]! - 1 ? c.rewards[row]! : 0)),
  old_log_probs: (c, row) => tokens(c, row, (t) => c.logProbs[row]![t]!),
  uid: (c, row) => c.uid[row]!,
  domain: (c, row) => c.domain[row]!,
};
