import { type Content, DOMAINS, GROUP } from "../plan/content.js";
import { WINDOW } from "../plan/runs.js";

/**
 * What each pipeline must answer, in float64 from the definitions in docs/components.md, sharing no code with the service.
 * Row weights are (rows,), token weights row-major (rows, width).
 */
export const expectedWeights: Readonly<Record<string, (content: Content) => number[]>> = {
  /** n · exp|a| / Σ exp|a|. */
  weigh({ advantages }) {
    const powers = advantages.map((a) => Math.exp(Math.abs(a)));
    const sum = powers.reduce((a, b) => a + b, 0);
    return powers.map((p) => (p * powers.length) / sum);
  },
  /** 1 where a prompt's share of solved responses lies strictly within (.2, .8). */
  keep({ rewards }) {
    return rewards.map((_, row) => {
      const start = row - (row % GROUP);
      const rate = rewards.slice(start, start + GROUP).filter((r) => r > 0.5).length / GROUP;
      return Number(rate > 0.2 && rate < 0.8);
    });
  },
  /** .5 + .5 p over live tokens, mean one. */
  tokens({ width, lengths, logProbs }) {
    const live = logProbs.map((row, i) => row.map((lp, t) => (t < lengths[i]! ? 0.5 + 0.5 * Math.exp(lp) : 0)));
    const flat = live.flat();
    const count = lengths.reduce((a, b) => a + b, 0);
    const mean = flat.reduce((a, b) => a + b, 0) / count;
    if (flat.length !== width * lengths.length) throw new Error("log-probs and width disagree");
    return flat.map((w) => w / mean);
  },
};

/** Sum of rewards and number of rows of each domain: what a mixer learns from one step. */
export interface DomainStep {
  readonly step: number;
  readonly sums: readonly number[];
  readonly counts: readonly number[];
}

export function domainStep(step: number, { rewards, domain }: Content): DomainStep {
  const of = (name: string): number[] => rewards.filter((_, row) => domain[row] === name);
  return {
    step,
    sums: DOMAINS.map((name) => of(name).reduce((a, b) => a + b, 0)),
    counts: DOMAINS.map((name) => of(name).length),
  };
}

/** reward_gap: softmax of how far each domain's mean over the last steps lags behind the best, then the floor of .05. */
export function rewardGap(history: readonly DomainStep[]): number[] {
  const recent = history.slice(-WINDOW);
  const means = DOMAINS.map((_, d) => {
    const rows = recent.reduce((n, s) => n + s.counts[d]!, 0);
    return recent.reduce((n, s) => n + s.sums[d]!, 0) / rows;
  });
  const best = Math.max(...means);
  const powers = means.map((mean) => Math.exp(best - mean));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((p) => 0.05 + (1 - DOMAINS.length * 0.05) * (p / sum));
}

export const STATIC_SHARES: readonly number[] = [0.75, 0.25];
