import { seededRng } from "../../src/scoring/batch/rng.js";

/** The responses of one step, padded as reference/step.py reads them. */
export interface FedStep {
  readonly mask: number[][];
  readonly lengths: number[];
  readonly is_padding: boolean[];
  readonly uid: string[];
  readonly session?: string[];
  readonly dataset_key: string[];
  readonly fields: { readonly rm_scores: number[][] };
  readonly columns: Readonly<Record<string, never>>;
}

export interface PolicyRun {
  readonly kind: "policy";
  readonly name: string;
  readonly params: Readonly<Record<string, number | boolean>>;
  readonly fed: readonly FedStep[];
  readonly candidates: { readonly dataset_key: string[]; readonly difficulty: number[] };
}

type Rng = () => number;

const quarter = (rng: Rng) => Math.floor(5 * rng()) / 4;

const PARAMS: Readonly<Record<string, (rng: Rng) => Record<string, number | boolean>>> = {
  greso: (rng) => ({
    p_easy: 0.05 + 0.9 * rng(),
    p_hard: 0.05 + 0.9 * rng(),
    p_change: 0.2 * rng(),
    target: rng() < 0.3 ? 0.75 : rng(),
    min_explore: 0.3 * rng(),
    ...(rng() < 0.5 && { easy_reward: 0.7, hard_reward: 0.3 }),
  }),
  adarft: (rng) => ({
    batch_size: 1 + Math.floor(8 * rng()),
    eta: 60 * rng(),
    alpha: 4 * rng(),
    beta: rng() < 0.3 ? 0.5 : rng(),
    ...(rng() < 0.5 && { d_min: -5, d_max: 30, start: 10 * rng() }),
  }),
  difficulty_pool: (rng) => ({
    ...(rng() < 0.5 && { hard_below: 0.2 + 0.1 * Math.round(rng()), easy_above: 0.4 + 0.4 * rng() }),
    hard_weight: rng() < 0.3 ? 0 : rng(),
    normal_weight: rng() < 0.3 ? 0 : rng(),
    easy_weight: rng() < 0.3 ? 0 : rng(),
    unseen_weight: rng() < 0.3 ? 0 : rng(),
  }),
  mopps: (rng) => ({
    batch_size: 1 + Math.floor(8 * rng()),
    target: rng() < 0.3 ? 0.5 : rng(),
    decay: rng() < 0.3 ? 1 : rng(),
    ...(rng() < 0.5 && { prior_alpha: 0.2 + 2 * rng(), prior_beta: 0.2 + 2 * rng() }),
    success_threshold: rng() < 0.5 ? 0.5 : quarter(rng),
  }),
  learnability_pool: (rng) => ({
    floor: rng() < 0.5 ? 0 : rng() / 5,
    unseen: rng() < 0.3 ? 0 : rng(),
    success_threshold: rng() < 0.5 ? 0.5 : quarter(rng),
  }),
};

/**
 * Responses to some of twelve prompts: one to six each, of a prompt that is always, never or sometimes solved; sometimes under two uids,
 * with rows (rarely the whole step) fully masked, holes in the mask, rewards outside it, several rows to a session.
 */
function fedStep(k: number, solved: readonly number[], rng: Rng): FedStep {
  const width = 3;
  const rows = solved.flatMap((chance, prompt) => {
    if (rng() < 0.4) return [];
    const sure = rng() < 0.7 && chance !== 0.5;
    return Array.from({ length: 1 + Math.floor(6 * rng()) }, () => {
      const reward = sure ? chance : k % 3 === 0 ? quarter(rng) : Number(rng() < chance);
      return { prompt, uid: `${prompt}-${k % 4 === 1 ? Math.floor(2 * rng()) : 0}`, reward };
    });
  });
  // Rows of a prompt do not stand together.
  const mixed = rows.map((row) => ({ row, at: rng() })).sort((a, b) => a.at - b.at);
  const each = <T>(make: (row: (typeof rows)[number], i: number) => T) => mixed.map(({ row }, i) => make(row, i));
  const lengths = each(() => 1 + Math.floor(width * rng()));
  const blank = rng() < 0.05 ? 1 : 0.08;
  const mask = each((_, i) => {
    const none = rng() < blank;
    const holes = k % 5 === 2 && rng() < 0.3;
    return Array.from({ length: width }, (_, t) =>
      Number(t < lengths[i]! && !none && !(holes && t === lengths[i]! - 1)),
    );
  });
  return {
    mask,
    lengths,
    is_padding: each(() => false),
    uid: each(({ uid }) => uid),
    ...(k % 3 === 1 && { session: each(() => `session-${Math.floor(4 * rng())}`) }),
    dataset_key: each(({ prompt }) => `prompt-${prompt}`),
    fields: {
      rm_scores: each(({ reward }, i) => Array.from({ length: width }, (_, t) => (t === lengths[i]! - 1 ? reward : 0))),
    },
    columns: {},
  };
}

/** The k-th history: 0 to 14 steps, then up to 14 candidates, two of them never fed. */
export function policyRun(name: string, k: number): PolicyRun {
  const rng = seededRng("parity", name, k);
  const solved = Array.from({ length: 12 }, () => [0, 1, 0.5, 0, 1][Math.floor(5 * rng())]!);
  const steps = Array.from({ length: k % 20 === 0 ? 0 : 1 + Math.floor(14 * rng()) }, () => fedStep(k, solved, rng));
  const keys = Array.from({ length: 14 }, (_, prompt) => `prompt-${prompt}`).filter(() => rng() < 0.85);
  const coarse = rng() < 0.5;
  return {
    kind: "policy",
    name,
    params: { ...PARAMS[name]!(rng), mask_reward: rng() < 0.6 },
    fed: steps.filter(({ mask }) => mask.length > 0),
    candidates: {
      dataset_key: keys.length > 0 ? keys : ["prompt-0"],
      difficulty: (keys.length > 0 ? keys : ["prompt-0"]).map(() =>
        coarse ? 10 * Math.floor(10 * rng()) : 100 * rng(),
      ),
    },
  };
}
