import { z } from "zod";
import { type Catalogue, catalogueOf } from "../../src/mounting/catalogue/catalogue-entry.js";
import type { Component } from "../../src/scoring/components/component-types.js";
import { defineReweighter, defineScorer, defineSelector } from "../../src/scoring/components/define.js";

const none = z.strictObject({});
const keepAll = () => [];

/** Components with the built-ins' names and shapes that compute nothing: what mount-time validation looks at. */
export const FAKES: readonly Component[] = [
  defineScorer({
    name: "group_solve_rate",
    requires: ["rm_scores", "response_mask", "uid"],
    timing: "post_reward",
    granularity: "prompt",
    needs_groups: true,
    rows: "group",
    params: z.strictObject({ success_threshold: z.number().default(0.5), mask_reward: z.boolean().default(true) }),
    score: () => [],
  }),
  defineScorer({
    name: "advantage_magnitude",
    requires: ["advantages"],
    timing: "post_advantage",
    granularity: "response",
    rows: "independent",
    params: z.strictObject({ agg: z.enum(["mean", "sum", "max"]).default("mean") }),
    score: () => [],
  }),
  defineScorer({
    name: "token_prob",
    requires: ["old_log_probs"],
    timing: "post_advantage",
    granularity: "token",
    params: none,
    score: () => [],
  }),
  defineReweighter({
    name: "softmax",
    accepts: "row",
    params: z.strictObject({ temperature: z.number().positive().default(1) }),
    act: () => [],
  }),
  defineReweighter({
    name: "advantage_reweight",
    accepts: "token",
    params: z.strictObject({ alpha: z.number().min(0).max(1).default(0.5) }),
    act: () => [],
  }),
  defineSelector({
    name: "threshold_band",
    accepts: "row",
    params: z.strictObject({ low: z.number().default(0), high: z.number().default(1) }),
    act: keepAll,
  }),
  defineSelector({ name: "entropy_topk", accepts: "token", params: none, act: keepAll }),
];

export const fakeCatalogue = (extra: readonly Component[] = []): Catalogue => catalogueOf([...FAKES, ...extra]);
