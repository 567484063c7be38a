import type { Weights } from "../columns/tensor.js";
import type { CombinedReport, WeightStats } from "../protocol/statistics-messages.js";
import { weightStats } from "../scoring/pipeline/stats.js";
import { measure } from "../scoring/pipeline/weights.js";
import type { Composed } from "./compose.js";

/** Statistics of composed weights, over live rows (row weights) or live tokens; float64. Undefined when no row is live. */
export function combinedReport({ weights, counts, clipped, product }: Composed): CombinedReport | undefined {
  const stats = statsOf(weights, counts);
  if (stats === undefined) return undefined;
  const before = statsOf(product.weights, product.counts);
  return {
    level: weights.kind === "row" ? "sample" : "token",
    stats,
    ...(before && { product: before }),
    clipped: { low: clipped.low / stats.n, high: clipped.high / stats.n },
  };
}

function statsOf(weights: Weights, counts: Int32Array): WeightStats | undefined {
  const live = Int32Array.from(counts.keys()).filter((row) => counts[row]! > 0);
  if (live.length === 0) return undefined;
  const { moments, keptRows } = measure(weights, live);
  return weightStats(moments, keptRows / live.length);
}
