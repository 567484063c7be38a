import { errorOf } from "../sentences.js";
import type { StepResult } from "./step-result.js";

/**
 * What a trainer may multiply its learning rate by for this step: √(effective sample size / n), in [0, 1], of the composed weights, or of
 * one pipeline's (a correction's, say, without the selections beside it). 1 where all weights are equal, where nothing weighs the loss, and
 * for a neutral step; 0 where every weight is 0. It is a number, applied nowhere: use it, clip it, or only plot it.
 *
 * n counts rows where the weights are of rows, else tokens. Source: VCPO, arXiv 2602.17616, whose weights are those of whole responses; the
 * square root is for Adam and its kin. The authors' code divides the share by that of on-policy steps first.
 *
 * @throws DataflexError USAGE for a pipeline that was not delivered
 */
export function stepScale(result: StepResult, pipeline?: string): number {
  if (result.neutral !== undefined) return 1;
  const stats = pipeline === undefined ? result.statistics?.stats : statsOf(result, pipeline);
  return stats === undefined ? 1 : Math.sqrt(stats.ess_ratio);
}

function statsOf(result: StepResult, pipeline: string) {
  const found = result.pipelines.find(({ name }) => name === pipeline);
  if (found !== undefined) return found.stats;
  const delivered = result.pipelines.map(({ name }) => name).join(", ") || "none";
  throw errorOf("USAGE.undelivered", { pipeline, delivered });
}
