import { seededRng } from "../../src/scoring/batch/rng.js";
import { fakeBatch } from "../../src/testing.js";

/** A step as the Python side reads it: padded to one width, rubbish wherever nothing may read. */
export interface RandomStep {
  readonly mask: number[][];
  readonly lengths: number[];
  readonly is_padding: boolean[];
  readonly uid: string[];
  readonly session?: string[];
  /** Token matrices `(rows, width)`. */
  readonly fields: Record<string, number[][]>;
  /** One number a row: scores to act on. */
  readonly columns: Record<string, number[]>;
}

/** Token fields that serve as scores only, and are no fields of the batch. */
const SCORES_ONLY = ["ratio", "probability", "divergence"];
const RUBBISH = [1e30, -1e30, 12345.678, -0.5];

/** The k-th step: 1 to 14 rows of up to 9 tokens in interleaved groups, some padding, masked rows, holes, sessions, ties. */
export function randomStep(k: number): RandomStep {
  const rng = seededRng("parity", k);
  const below = (n: number) => Math.floor(rng() * n);
  const chance = (p: number) => rng() < p;
  const rows = k % 25 === 0 ? 1 : 2 + below(13);
  const width = 1 + below(9);
  const each = <T>(make: (i: number) => T) => Array.from({ length: rows }, (_, i) => make(i));
  const lengths = each(() => 1 + below(width));
  const is_padding = each((i) => i > 0 && chance(0.1));
  const groups = 1 + below(4);
  const uid = each((i) => (is_padding[i] ? "padding" : `group-${below(groups)}`));
  const mask = each((i) => {
    const none = i > 0 && (is_padding[i] || chance(0.08));
    return Array.from({ length: width }, (_, t) => Number(t < lengths[i]! && !none && (t === 0 || !chance(0.2))));
  });
  const step = { rows, width, lengths, mask, uid };
  const matrix = (scope: "mask" | "response", value: (i: number, t: number) => number) =>
    each((i) =>
      Array.from({ length: width }, (_, t) => {
        const inside = scope === "mask" ? mask[i]![t] === 1 : t < lengths[i]!;
        return inside ? value(i, t) : RUBBISH[(i + t) % RUBBISH.length]!;
      }),
    );
  const reward = rewardOf(k % 5, rng);
  const ofRow = each(() => reward());
  const old = matrix("mask", () => Math.log(0.02 + 0.98 * rng()));
  const noisy = (scale: number) => old.map((row) => row.map((value) => value + scale * (2 * rng() - 1)));
  const level = new Map([...new Set(uid)].map((name) => [name, k % 3 === 0 && chance(0.5) ? 0 : 1] as const));
  const ownAdvantage = each(() => 4 * rng() - 2);
  const coarse = k % 2 === 0;
  const fields = {
    rm_scores: matrix("response", (i, t) => (t === lengths[i]! - 1 ? ofRow[i]! : k % 7 === 0 ? reward() : 0)),
    old_log_probs: old,
    rollout_log_probs: noisy(k % 4 === 0 ? 3 : 0.5),
    ref_log_prob: noisy(0.5),
    entropy: matrix("mask", () => (coarse ? below(12) / 4 : 3 * rng())),
    advantages: matrix("mask", (i) => level.get(uid[i]!)! * (k % 5 === 4 ? rng() - 0.5 : ownAdvantage[i]!)),
    ratio: matrix("mask", () => (coarse ? [0.25, 0.4, 0.5, 1, 1, 2, 3, 4][below(8)]! : Math.exp(3 * rng() - 1.5))),
    probability: matrix("mask", () => rng()),
    divergence: matrix("mask", () => (coarse ? (below(21) - 10) / 10 : 2 * rng() - 1)),
  };
  return {
    ...step,
    is_padding,
    ...(k % 3 === 1 ? { session: each(() => `session-${below(3)}`) } : {}),
    fields,
    columns: {
      reward: ofRow,
      rate: each((i) => below(5) / 4 + 0 * i),
      signed: each(() => 6 * rng() - 3),
      length: each((i) =>
        Math.max(
          1,
          mask[i]!.reduce((sum, m) => sum + m, 0),
        ),
      ),
      cut: each(() => Number(chance(0.3))),
      difficulty: each(() => below(11) / 10),
      policy_version: each(() => 2 - below(12)),
      age: each(() => below(12)),
      product: each(() => (coarse ? [0.25, 0.5, 1, 1, 2][below(5)]! : Math.exp(6 * rng() - 3))),
    },
  };
}

/** Rewards of five makes: outcomes, signs, tenths that tie, grades, and large ones around a constant. */
function rewardOf(make: number, rng: () => number): () => number {
  const tenths = () => Math.round(10 * rng()) / 10;
  return [() => Number(rng() < 0.5), () => (rng() < 0.5 ? 1 : -1), tenths, rng, () => 1e4 + rng()][make]!;
}

/** The same step as a batch, in one of the encodings. */
export function batchOf(step: RandomStep, k: number) {
  const ragged = (matrix: number[][]) => matrix.map((row, i) => row.slice(0, step.lengths[i]!));
  const entries = Object.entries(step.fields).filter(([name]) => !SCORES_ONLY.includes(name));
  const fields = Object.fromEntries(entries.map(([name, matrix]) => [name, ragged(matrix)]));
  return fakeBatch(
    {
      response_mask: ragged(step.mask),
      ...fields,
      uid: step.uid,
      difficulty: step.columns.difficulty!,
      policy_version: step.columns.policy_version!,
      ...(step.session ? { session: step.session } : {}),
    },
    {
      is_padding: step.is_padding,
      width: step.mask[0]!.length,
      encode: (["jagged", "dense", "compact"] as const)[k % 3]!,
    },
  );
}
