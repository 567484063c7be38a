import { z } from "zod";
import type { StateStep, StateValue } from "../../../protocol/saved-state.js";
import { quantileOf } from "../../batch/order.js";
import { defineSelector } from "../define.js";

/** Below it quartiles say little; the reference implementation's number. */
const MIN_OBSERVATIONS = 40;
const ENTRY = "group_means";

/**
 * Keeps the most concise responses of each prompt: more of hard prompts, fewer of easy ones.
 *
 * Per group the k highest of s_i / L_i (`efficiency`) or −L_i (`short`), as `gfpo`; k follows from where the group's mean score lies among
 * the group means of earlier steps: k_hardest up to their first quartile, k_hard up to the second, k_medium up to the third, k_easy above.
 * k is at most the group's size − 1, at least 1. `(rows,)` → kept row numbers. Until `warmup` steps with 40 groups in all are known, and
 * where no history exists (`replay`), k is k_hardest throughout. Means and quartiles are compared as float32.
 *
 * Example: history 0, 1/40 … 1 (quartiles .25, .5, .75), group means .2, .3, .6, .9 → k = 8, 8, 6, 4.
 * Source: arXiv 2508.09726, adaptive difficulty.
 */
export const gfpoAdaptive = defineSelector({
  name: "gfpo_adaptive",
  requires: ["response_mask", "uid"],
  accepts: "row",
  needs_groups: true,
  rows: "batch",
  params: z.strictObject({
    k_hardest: z.int().min(1).default(8),
    k_hard: z.int().min(1).default(8),
    k_medium: z.int().min(1).default(6),
    k_easy: z.int().min(1).default(4),
    metric: z.enum(["efficiency", "short"]).default("efficiency"),
    warmup: z.int().min(0).default(10),
    history: z.int().min(MIN_OBSERVATIONS).default(20_000),
  }),
  doc: {
    summary:
      "Keeps the responses of each group that are shortest, or earn most reward per token: more of hard prompts than of easy ones.",
    formula:
      "per group the k highest of s_i/L_i (efficiency) or -L_i (short), L_i = max(tokens_i, 1)\nk = k_hardest, k_hard, k_medium, k_easy for a group mean up to the 1st, 2nd, 3rd quartile of earlier group means, or above\nk is clamped to [1, group size - 1]",
    score: "the reward (reward_difficulty)",
    edges: [
      "fewer than warmup steps or 40 group means known: k_hardest for every group",
      "only earlier steps count: a step that is scored again keeps the same rows, if the same steps were settled before it",
      "every group of two or more loses at least one row; a group of one is kept",
      "equal values: the lower row first; means and quartiles are compared as float32",
      "what another scorer (or other parameters of it) left in the history does not count; replay has no history",
    ],
    params: {
      k_hardest: "rows to keep of groups up to the first quartile of mean score, and during the warm-up, ≥ 1",
      k_hard: "rows to keep up to the second quartile, ≥ 1",
      k_medium: "rows to keep up to the third quartile, ≥ 1",
      k_easy: "rows to keep above the third quartile, ≥ 1",
      metric: "efficiency (score per token) or short (fewest tokens)",
      warmup: "steps that must be known before k adapts, ≥ 0",
      history: "how many of the latest group means the quartiles are computed from, ≥ 40",
    },
    source: {
      ref: "arXiv 2508.09726",
      verified:
        "a third-party implementation read for k, quartiles and warm-up; that means on a quartile belong to the harder side, and that the current step is left out of its own quartiles, is ours",
      differs: "the paper normalises advantages over the kept rows; here the trainer's advantages stay",
    },
  },
  remember: (scores, batch) => {
    const means = batch.groupBy("uid").mean(scores).values;
    const first = batch
      .groupBy("uid")
      .members()
      .map((members) => means[members[0]!]!);
    return first.length === 0 ? [] : [[ENTRY, ...first] satisfies StateValue];
  },
  // Twenty thousand group means are 312 steps of 64 prompts; more would only be read to be cut off.
  remember_steps: 320,
  act(scores, batch, { params, history }) {
    const groups = batch.groupBy("uid");
    const means = groups.mean(scores).values;
    const length = batch.field("response_mask").count().clip(1, Number.POSITIVE_INFINITY);
    const value = (params.metric === "efficiency" ? scores.div(length) : length.mul(-1)).values.map(Math.fround);
    const limits = quartiles(history, params);
    const ks = [params.k_hardest, params.k_hard, params.k_medium, params.k_easy] as const;
    return groups
      .members()
      .flatMap((members) => {
        const mean = Math.fround(means[members[0]!]!);
        const k = ks[limits.filter((limit) => mean > limit).length]!;
        const held = Math.max(1, Math.min(k, members.length - 1));
        return [...members].sort((i, j) => value[j]! - value[i]! || i - j).slice(0, held);
      })
      .sort((a, b) => a - b);
  },
});

/** The three quartiles of earlier group means; none during the warm-up, so that every group counts as hardest. */
function quartiles(steps: readonly StateStep[], params: { warmup: number; history: number }): number[] {
  const means = steps.flatMap(({ values }) => values.flatMap(([, ...numbers]) => numbers)).slice(-params.history);
  if (steps.length < params.warmup || means.length < MIN_OBSERVATIONS) return [];
  const values = Float64Array.from(means);
  return [0.25, 0.5, 0.75].map((q) => Math.fround(quantileOf(values, q)));
}
