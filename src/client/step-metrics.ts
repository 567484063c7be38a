import type { CombinedReport, WeightStats } from "../protocol/statistics-messages.js";
import type { PipelineResult } from "./outcomes.js";

const STATISTICS = ["mean", "std", "min", "max", "ess_ratio", "kept_ratio", "zero_ratio"] as const;

interface Measured {
  readonly waitedMs: number;
  readonly neutral: unknown;
  readonly statistics: CombinedReport | undefined;
  readonly pipelines: readonly PipelineResult[];
}

/**
 * A step's result as one flat record of numbers, as W&B, TensorBoard and MLflow take it, under `prefix`/: `wait_s` and `neutral` (1: trained
 * without weights); `loss/…`, statistics of what the loss takes, with the shares that clip moved; `<pipeline>/…`, each pipeline's own
 * statistics, what its components measured, and a mixer's `share/<domain>`.
 */
export function stepMetrics(result: Measured, prefix: string): Record<string, number> {
  const loss = result.statistics;
  const found: Record<string, number> = {
    wait_s: result.waitedMs / 1_000,
    neutral: result.neutral === undefined ? 0 : 1,
    ...under("loss", statistics(loss?.stats)),
    ...under("loss", loss ? { clipped_low: loss.clipped.low, clipped_high: loss.clipped.high } : {}),
  };
  for (const { name, stats, metrics, proportions } of result.pipelines) {
    const own = { ...statistics(stats), ...metrics, ...under("share", proportions ?? {}) };
    Object.assign(found, under(name, own));
  }
  return under(prefix, found);
}

function statistics(stats: WeightStats | undefined): Record<string, number> {
  return stats ? Object.fromEntries(STATISTICS.map((name) => [name, stats[name]])) : {};
}

function under(prefix: string, numbers: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(numbers).map(([name, value]) => [`${prefix}/${name}`, value]));
}
