import { z } from "zod";
import { defineSelector } from "../define.js";

/**
 * Keeps the k most concise responses of each prompt.
 *
 * Per group the k highest of s_i / L_i (`efficiency`: reward per token) or −L_i (`short`), L_i = max(unmasked tokens, 1). `(rows,)` →
 * kept row numbers. Equal values: the lower row first. A group of at most k rows is kept whole. With negative rewards
 * `efficiency` prefers the longest failure.
 *
 * Example: one group, s = 1, 0, 1, 0, L = 4, 3, 2, 4, k = 2 → short keeps rows 1 and 2, efficiency rows 0 and 2.
 * Source: arXiv 2508.09726.
 */
export const gfpo = defineSelector({
  name: "gfpo",
  requires: ["response_mask", "uid"],
  accepts: "row",
  needs_groups: true,
  rows: "group",
  params: z.strictObject({
    k: z.int().min(1).default(8),
    metric: z.enum(["efficiency", "short"]).default("efficiency"),
  }),
  doc: {
    summary: "Keeps the k responses of each group that are shortest, or earn most reward per token.",
    formula: "per group the k highest of s_i/L_i (efficiency) or -L_i (short), L_i = max(tokens_i, 1)",
    score: "the reward (reward_difficulty); metric short does not read it",
    edges: [
      "equal values: the lower row first",
      "a group of at most k rows is kept whole",
      "efficiency with negative scores prefers long failures",
    ],
    params: { k: "rows to keep per group, ≥ 1", metric: "efficiency (score per token) or short (fewest tokens)" },
    source: {
      ref: "arXiv 2508.09726",
      verified: "DataFlex-RL code read, fixture E6 recomputed",
      differs: "the paper normalises advantages over the kept rows; here the trainer's advantages stay",
    },
  },
  act(scores, batch, { params: { k, metric } }) {
    const length = batch.field("response_mask").count().clip(1, Number.POSITIVE_INFINITY);
    const value = metric === "efficiency" ? scores.div(length) : length.mul(-1);
    return batch.groupBy("uid").top(k, value).nonzero();
  },
});
