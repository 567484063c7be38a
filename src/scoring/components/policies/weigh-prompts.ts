import type { Batch } from "../../batch/batch.js";
import { liveRows } from "../../batch/frame.js";
import type { PromptHistory } from "../../mix/prompt-history.js";
import { type PromptOutcome, readOutcome } from "./outcomes-by-key.js";

/**
 * Sampling weights of the candidates by what became of each prompt last, divided by their sum; equal weights when all are 0.
 * @param weigh weight of a prompt; `undefined` for one never visited.
 */
export function weighPrompts(
  history: PromptHistory,
  candidates: Batch,
  weigh: (latest: PromptOutcome | undefined) => number,
): { weights: Float64Array } {
  const keys = candidates.strings("dataset_key");
  const rows = liveRows(candidates.frame);
  const weights = new Float64Array(candidates.rows);
  for (const row of rows) {
    const latest = history.latest(keys[row]!);
    weights[row] = weigh(latest && readOutcome(latest.numbers));
  }
  const sum = weights.reduce((total, weight) => total + weight, 0);
  for (const row of rows) weights[row] = sum > 0 ? weights[row]! / sum : 1 / rows.length;
  return { weights };
}
