import type { Problem, TrainerSettings } from "../../protocol/mount-messages.js";
import type { PipelineSpec } from "../../protocol/pipeline-spec.js";
import type { PipelineOptions } from "../config/options.js";
import type { CatalogueEntry } from "./catalogue-entry.js";

/** Losses that average over a row's tokens first, whatever the aggregation: every row counts the same. */
const ROW_LOSSES = ["geo_mean", "gspo", "sapo"];
/** verl's aggregations: whether rows or tokens count alike, and so whose mean weight must be one to keep the step's size. */
const AGGREGATIONS: Readonly<Record<string, "row" | "token">> = {
  "seq-mean-token-mean": "row",
  "token-mean": "token",
  "token-sum": "token",
  "seq-mean-token-sum": "token",
  "seq-mean-token-sum-norm": "token",
};

export interface Diagnostics {
  readonly problems: Problem[];
  readonly warnings: string[];
  /** What was decided or assumed. */
  readonly notes: string[];
}

/**
 * How a pipeline's weights are normalised. Unset: by the shape of the weights, or not at all if the reweighter does it itself. `auto`: by
 * the trainer's loss; if that is not known, also by the shape, with a warning: the step is then only scaled by a factor near one, which is
 * no reason to refuse a run.
 */
export function resolveNormalize(
  options: PipelineOptions,
  granularity: PipelineSpec["granularity"],
  actuator: Pick<CatalogueEntry, "self_normalized"> | undefined,
  path: Problem["path"],
  trainer: TrainerSettings | undefined,
  diagnostics: Diagnostics,
): PipelineSpec["normalize"] {
  const wanted = options.normalize;
  if (options.mechanism !== "reweight") {
    if (wanted !== null && wanted !== "none") {
      const message = `normalize: ${wanted} applies to mechanism reweight; ${options.mechanism} is never normalised`;
      const suggestion = "remove it, or set rescale at run level";
      diagnostics.problems.push({ path: [...path, "normalize"], message, suggestion });
    }
    return "none";
  }
  const byShape = granularity === "token" ? "token" : "row";
  if (wanted === null) return actuator?.self_normalized ? "none" : byShape;
  if (wanted !== "auto") return wanted;
  const where = `${path.join(".")}: normalize auto`;
  const found = byLoss(trainer ?? {});
  if (found.level === undefined) {
    diagnostics.warnings.push(`${where} is ${byShape}, by the shape of the weights: ${found.why}`);
    return byShape;
  }
  diagnostics.notes.push(`${where} is ${found.level}: ${found.why}`);
  return found.level;
}

function byLoss({ loss_mode, loss_agg_mode }: TrainerSettings): { level?: "row" | "token"; why: string } {
  if (loss_mode !== undefined && ROW_LOSSES.includes(loss_mode)) {
    return { level: "row", why: `the policy loss ${loss_mode} averages over rows` };
  }
  if (loss_agg_mode === undefined) return { why: "the trainer did not give its loss_agg_mode" };
  const level = Object.hasOwn(AGGREGATIONS, loss_agg_mode) ? AGGREGATIONS[loss_agg_mode] : undefined;
  if (level === undefined) return { why: `loss_agg_mode "${loss_agg_mode}" is not one of verl's` };
  return { level, why: `loss_agg_mode ${loss_agg_mode} counts ${level}s alike` };
}
