import { z } from "zod";
import { seededRng } from "../../batch/rng.js";
import type { PromptHistory } from "../../mix/prompt-history.js";
import { definePolicy } from "../define.js";
import { MASK_REWARD_DOC, maskReward } from "../scorers/outcome-reward.js";
import { OUTCOME_FIELDS, outcomesByKey, readOutcome } from "./outcomes-by-key.js";

const KINDS = ["easy", "hard"] as const;
type ZeroVariance = (typeof KINDS)[number];

interface Thresholds {
  readonly easy_reward: number;
  readonly hard_reward: number;
}

/** Bounds of the exploration probabilities, as in the authors' code. */
const LEAST = 0.05;
const MOST = 0.95;

/** Whether a visit taught nothing: every response earned the same, and that is the best or the worst. */
export function zeroVariance(numbers: readonly number[], at: Thresholds): ZeroVariance | undefined {
  const { responses, mean, lowest, highest } = readOutcome(numbers);
  // Compared as float32, as the trainer would.
  if (responses < 2 || Math.fround(lowest) !== Math.fround(highest)) return undefined;
  if (Math.fround(mean) >= Math.fround(at.easy_reward)) return "easy";
  return Math.fround(mean) <= Math.fround(at.hard_reward) ? "hard" : undefined;
}

/** Probability to leave a prompt out after `times` zero-variance visits of one kind in a row: 1 − max(p^times, least). */
export function skipProbability(explore: number, times: number, least: number): number {
  return 1 - Math.max(explore ** times, least);
}

interface Explore {
  readonly easy: number;
  readonly hard: number;
}

/** Exploration probabilities after all steps: lowered while zero-variance prompts are at least as frequent as wanted, else raised. */
function exploration(history: PromptHistory, start: Explore, target: number, change: number, at: Thresholds): Explore {
  const wanted = { easy: target / 3, hard: (2 * target) / 3 };
  return history.steps.reduce<Explore>((state, { values }) => {
    if (values.length === 0) return state;
    const kinds = values.map(([, ...numbers]) => zeroVariance(numbers, at));
    const next = (kind: ZeroVariance): number => {
      const share = kinds.filter((k) => k === kind).length / values.length;
      const moved = share >= wanted[kind] ? state[kind] - change : state[kind] + change;
      return Math.min(MOST, Math.max(LEAST, moved));
    };
    return { easy: next("easy"), hard: next("hard") };
  }, start);
}

/** Zero-variance visits of one kind in a row, counted back from the latest. */
function lastInARow(
  history: PromptHistory,
  key: string,
  at: Thresholds,
): { kind: ZeroVariance; times: number } | undefined {
  const visits = history.visits(key);
  const latest = visits.at(-1);
  const kind = latest && zeroVariance(latest.numbers, at);
  if (kind === undefined) return undefined;
  const other = visits.findLastIndex(({ numbers }) => zeroVariance(numbers, at) !== kind);
  return { kind, times: visits.length - 1 - other };
}

/**
 * Leaves out prompts that taught nothing the last few times, now and then giving them another chance.
 *
 * z = zero-variance visits of the same kind in a row (all responses right, or all wrong); left out with probability
 * 1 − max(p_kind^z, min_explore). After each step p_kind falls by p_change if the share of such prompts reached its target, else rises;
 * always within [.05, .95].
 *
 * Example: p = .5, z = 0 … 7 → 0 .5 .75 .875 .9375 .96875 .984375 .99.
 * Source: arXiv 2506.02177 (GRESO).
 */
export const greso = definePolicy({
  name: "greso",
  feed_requires: [...OUTCOME_FIELDS],
  needs_groups: true,
  params: z.strictObject({
    p_easy: z.number().min(LEAST).max(MOST).default(0.5),
    p_hard: z.number().min(LEAST).max(MOST).default(0.5),
    p_change: z.number().min(0).max(1).default(0.01),
    target: z.number().min(0).max(1).default(0.25),
    min_explore: z.number().min(0).max(1).default(0.01),
    easy_reward: z.number().default(0.98),
    hard_reward: z.number().default(0),
    mask_reward: maskReward,
  }),
  rules: [{ rule: "less", params: ["hard_reward", "easy_reward"] }],
  doc: {
    summary: "Leaves out prompts whose responses were all right, or all wrong, in their last visits.",
    formula:
      "z = zero-variance visits of one kind in a row; left out with probability 1 - max(p_kind^z, min_explore); per step p_kind -= p_change if share_kind >= target_kind else += p_change, within [0.05, 0.95]; target_easy = target/3, target_hard = 2 target/3",
    edges: [
      "a prompt never visited is kept, so nothing is left out in the first epoch",
      "a visit with one response, or with equal rewards between hard_reward and easy_reward, ends the row",
      "the same run, step and prompt always draw the same number",
      "the last 1,000 steps are remembered: p_kind is adapted over them",
    ],
    params: {
      p_easy: "chance of a prompt to be rolled out again after one visit that was all right, at the start",
      p_hard: "the same after one visit that was all wrong",
      p_change: "how much both move per step",
      target: "share of zero-variance prompts that is wanted: a third of it easy, two thirds hard",
      min_explore: "least chance of any prompt to be rolled out",
      easy_reward: "mean reward from which equal rewards count as all right",
      hard_reward: "mean reward up to which equal rewards count as all wrong (in the authors' reward scale 0.11)",
      mask_reward: MASK_REWARD_DOC,
    },
    source: { ref: "arXiv 2506.02177", verified: "authors' code read, fixture E15 recomputed" },
  },
  feed: outcomesByKey,
  select(history, candidates, ctx) {
    const { params, run, step, trigger } = ctx;
    const start = { easy: params.p_easy, hard: params.p_hard };
    const explore = exploration(history, start, params.target, params.p_change, params);
    const keep = candidates.strings("dataset_key").map((key) => {
      const row = lastInARow(history, key, params);
      if (row === undefined) return true;
      const skip = skipProbability(explore[row.kind], row.times, params.min_explore);
      return seededRng("greso", run, step, trigger, key)() >= skip;
    });
    return { keep };
  },
});
