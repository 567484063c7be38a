import type { Proportions } from "./simplex.js";

/** What one step showed of each domain: `(domains,)` each. */
export interface DomainStep {
  readonly step: number;
  readonly trigger: number;
  /** Sum of the scores of the domain's live rows. */
  readonly sums: readonly number[];
  /** Live rows of the domain. */
  readonly counts: readonly number[];
}

/** One update of the proportions: the steps since the previous update, taken together. */
export interface DomainUpdate {
  /** 1, 2, 3 … */
  readonly number: number;
  readonly sums: readonly number[];
  readonly counts: readonly number[];
  /** Mean score of each domain; `undefined` if it had no rows. */
  readonly means: readonly (number | undefined)[];
}

export interface SeriesInput {
  readonly domains: readonly string[];
  /** Shares before any data, `(domains,)`, sum 1. */
  readonly prior: Proportions;
  /** Ascending by step and trigger. */
  readonly steps: readonly DomainStep[];
  /** How many steps `mean` and `slope` look back. */
  readonly window: number;
  readonly warmup_step: number;
  readonly update_step: number;
}

/**
 * The history of the mounted scorer's scores, domain by domain, up to the current update. Pure data: whatever a mixer
 * needs from earlier updates it recomputes with `fold`, so nothing else is ever stored.
 */
export class DomainSeries {
  readonly domains: readonly string[];
  readonly prior: Proportions;
  readonly steps: readonly DomainStep[];
  readonly window: number;
  readonly #input: SeriesInput;

  constructor(input: SeriesInput) {
    this.#input = input;
    this.domains = input.domains;
    this.prior = input.prior;
    this.steps = input.steps;
    this.window = input.window;
  }

  /** Rows seen so far, cumulative: `(domains,)`. */
  counts(): number[] {
    return this.domains.map((_, d) => this.steps.reduce((sum, step) => sum + step.counts[d]!, 0));
  }

  /** Σ sum / Σ count over the last `window` steps in which the domain had rows: `(domains,)`; `missing` where there are none. */
  means(missing = Number.NaN): number[] {
    return this.domains.map((_, d) => {
      const recent = this.#recent(d);
      const rows = recent.reduce((n, step) => n + step.counts[d]!, 0);
      return rows === 0 ? missing : recent.reduce((sum, step) => sum + step.sums[d]!, 0) / rows;
    });
  }

  /**
   * Least-squares slope of the steps' means over their step numbers, over the last `window` steps in which the domain had rows:
   * `(domains,)`; `missing` where fewer than two step numbers have rows.
   */
  slopes(missing = 0): number[] {
    return this.domains.map((_, d) => {
      const points = this.#recent(d).map((step) => ({ x: step.step, y: step.sums[d]! / step.counts[d]! }));
      return slopeOf(points) ?? missing;
    });
  }

  /** Steps since the domain last had rows, 0 if the last step has some: `(domains,)`; the number of all steps if it never had any. */
  staleness(): number[] {
    return this.domains.map((_, d) => this.steps.length - 1 - this.steps.findLastIndex((step) => step.counts[d]! > 0));
  }

  /**
   * Goes through the updates so far, oldest first, for mixers with a state of their own. One update holds the steps since the one
   * before: of `update_step` steps each, counted so that one ends at `warmup_step`. Updates without any rows are left out.
   */
  fold<S>(initial: S, update: (state: S, update: DomainUpdate) => S): S {
    return this.#updates().reduce(update, initial);
  }

  /** The same history for some of the domains; their prior shares are rescaled to sum 1. */
  of(indices: readonly number[]): DomainSeries {
    const pick = <T>(values: readonly T[]): T[] => indices.map((d) => values[d]!);
    const prior = pick(this.prior);
    const total = prior.reduce((sum, share) => sum + share, 0);
    return new DomainSeries({
      ...this.#input,
      domains: pick(this.domains),
      prior: prior.map((share) => (total > 0 ? share / total : 1 / indices.length)),
      steps: this.steps.map((step) => ({ ...step, sums: pick(step.sums), counts: pick(step.counts) })),
    });
  }

  #recent(d: number): DomainStep[] {
    return this.steps.filter((step) => step.counts[d]! > 0).slice(-this.window);
  }

  #updates(): DomainUpdate[] {
    const { warmup_step, update_step } = this.#input;
    const groups = new Map<number, DomainStep[]>();
    for (const step of this.steps) {
      if (!step.counts.some((n) => n > 0)) continue;
      const update = Math.ceil((step.step - warmup_step) / update_step);
      const group = groups.get(update);
      if (group === undefined) groups.set(update, [step]);
      else group.push(step);
    }
    return [...groups.values()].map((steps, i) => {
      const total = (key: "sums" | "counts") =>
        this.domains.map((_, d) => steps.reduce((sum, step) => sum + step[key][d]!, 0));
      const [sums, counts] = [total("sums"), total("counts")];
      const means = sums.map((sum, d) => (counts[d]! > 0 ? sum / counts[d]! : undefined));
      return { number: i + 1, sums, counts, means };
    });
  }
}

function slopeOf(points: readonly { x: number; y: number }[]): number | undefined {
  const n = points.length;
  const xm = points.reduce((sum, { x }) => sum + x, 0) / n;
  const ym = points.reduce((sum, { y }) => sum + y, 0) / n;
  const spread = points.reduce((sum, { x }) => sum + (x - xm) ** 2, 0);
  if (n < 2 || spread === 0) return undefined;
  return points.reduce((sum, { x, y }) => sum + (x - xm) * (y - ym), 0) / spread;
}
