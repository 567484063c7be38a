import { z } from "zod";
import type { StateValue } from "../../../protocol/saved-state.js";
import type { Batch } from "../../batch/batch.js";
import type { Context } from "../component-types.js";
import { maskReward, outcomeReward } from "../scorers/outcome-reward.js";

/** What a step said about one prompt, as policies remember it. */
export interface PromptOutcome {
  /** Responses that count: live rows, of each session the last. */
  readonly responses: number;
  readonly mean: number;
  readonly lowest: number;
  readonly highest: number;
  /** Share of responses with a reward above the success threshold. */
  readonly solved: number;
}

export const outcomeParams = {
  success_threshold: z.number().default(0.5),
  mask_reward: maskReward,
} as const;

/** What `feed` reads to summarise responses by dataset key. */
export const OUTCOME_FIELDS = ["dataset_key", "rm_scores", "response_mask", "uid"] as const;

/**
 * One entry a dataset key, in order of first appearance. A prompt that stands in a step under several uids counts as one.
 */
export function outcomesByKey(
  batch: Batch,
  ctx: Context<{ mask_reward: boolean; success_threshold?: number }>,
): StateValue[] {
  const reward = outcomeReward(batch, ctx);
  const groups = batch.groupBy("dataset_key");
  const columns = [
    groups.count(),
    groups.mean(reward),
    groups.min(reward),
    groups.max(reward),
    groups.mean(reward.gt(ctx.params.success_threshold ?? 0.5)),
  ];
  const rows = new Map<string, number>();
  for (const [row, key] of batch.strings("dataset_key").entries()) {
    if (batch.live[row] === 1 && !rows.has(key)) rows.set(key, row);
  }
  return [...rows].map(([key, row]): StateValue => [key, ...columns.map((column) => column.values[row]!)]);
}

export function readOutcome(numbers: readonly number[]): PromptOutcome {
  const [responses = 0, mean = 0, lowest = 0, highest = 0, solved = 0] = numbers;
  return { responses, mean, lowest, highest, solved };
}
