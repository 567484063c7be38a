import { DomainSeries, type DomainStep } from "../scoring/mix/series.js";
import { type Proportions, uniform } from "../scoring/mix/simplex.js";

export interface HistoryOptions {
  /** Default: d0, d1 … */
  readonly domains?: readonly string[];
  readonly prior?: Proportions;
  readonly window?: number;
  readonly warmup_step?: number;
  readonly update_step?: number;
  /** Rows behind each mean. Default 1. */
  readonly rows?: number;
  /** Number of the first step, or the number of each. Default 1. */
  readonly steps?: number | readonly number[];
}

/**
 * A history from plain numbers, for tests of mixers: `mixHistory([[0.9, 0.5], [0.8, null]])` is two steps of two domains, the second
 * domain without rows in the second step. Each number is the mean of the domain's rows in that step.
 */
export function mixHistory(means: readonly (readonly (number | null)[])[], options: HistoryOptions = {}): DomainSeries {
  const size = means[0]?.length ?? options.domains?.length ?? 0;
  const { rows = 1, steps = 1, window = 50, warmup_step = 0, update_step = 1 } = options;
  const domains = options.domains ?? Array.from({ length: size }, (_, d) => `d${d}`);
  const history = means.map(
    (step, i): DomainStep => ({
      step: typeof steps === "number" ? steps + i : steps[i]!,
      trigger: 0,
      sums: step.map((mean) => (mean ?? 0) * rows),
      counts: step.map((mean) => (mean === null ? 0 : rows)),
    }),
  );
  const prior = options.prior ?? uniform(domains.length);
  return new DomainSeries({ domains, prior, steps: history, window, warmup_step, update_step });
}
