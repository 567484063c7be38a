import { seededRng } from "../../src/scoring/batch/rng.js";
import type { SeriesInput } from "../../src/scoring/mix/series.js";

export interface MixerRun {
  readonly kind: "mixer";
  readonly name: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly series: SeriesInput;
  /** The step of the update. */
  readonly step: number;
}

type Rng = () => number;

/** Parameters of each mixer's own; the floor's are added for those that have one. */
const PARAMS: Readonly<Record<string, (rng: Rng, size: number) => Record<string, unknown>>> = {
  reward_gap: (rng) => ({ temperature: 0.05 + 2 * rng() }),
  vcrl_mix: (rng) => ({ temperature: 0.05 + 2 * rng() }),
  dump_ucb: (rng) => ({ temperature: 0.05 + 2 * rng(), c: rng() < 0.2 ? 0 : 2 * rng() }),
  tscl: (rng) => ({ temperature: 0.02 + rng(), signed: rng() < 0.5, cold_slope: rng() < 0.5 ? 0 : rng() }),
  dads: (rng) => ({
    temperature: 0.1 + rng(),
    alpha: rng() < 0.2 ? 0 : 0.99 * rng(),
    eps: rng() / 5,
    target: 2 * rng(),
  }),
  exp3: (rng) => ({ signal: rng() < 0.5 ? "gap" : "mean", scale: rng() < 0.3 ? 1 : 0.2 + 2 * rng() }),
  plr: (rng) => ({ beta: 0.1 + 2 * rng(), rho: rng() < 0.2 ? 0 : rng() }),
  doremi: (rng) => ({ eta: 1.5 * rng(), smoothing: rng() < 0.3 ? 0 : rng() ** 3, average: rng() < 0.5 }),
  static: (rng, size) => ({ proportions: rng() < 0.3 ? null : shares(rng, size) }),
  linear_schedule: (rng, size) => {
    const begin_step = Math.floor(40 * rng());
    const start = rng() < 0.3 ? null : shares(rng, size);
    return { start, end: shares(rng, size), begin_step, end_step: begin_step + 1 + Math.floor(60 * rng()) };
  },
};

const WITHOUT_FLOOR = ["static", "linear_schedule"];

/** At least one above 0, some 0, of any sum. */
function shares(rng: Rng, size: number): number[] {
  const one = Math.floor(size * rng());
  return Array.from({ length: size }, (_, d) => (d !== one && rng() < 0.2 ? 0 : 0.1 + 3 * rng()));
}

/** Their sum depends on the order: domains with these scores are equal but for rounding. */
const TENTHS = [0.1, 0.2, 0.3];

/** Scores of five makes: outcomes, signs, tenths, grades, and large ones around a constant. */
function scoreOf(make: number, rng: Rng): number {
  return [Number(rng() < 0.5), rng() < 0.5 ? 1 : -1, Math.round(10 * rng()) / 10, rng(), 1e4 + rng()][make]!;
}

/**
 * The k-th history: 2 to 5 domains over 0 to 60 steps; step numbers with gaps, steps without any rows, domains that pause, that begin
 * late or are never seen; a prior with zeros.
 */
export function mixerRun(name: string, k: number): MixerRun {
  const rng = seededRng("parity", name, k);
  const below = (n: number) => Math.floor(rng() * n);
  const size = 2 + below(4);
  const domains = Array.from({ length: size }, (_, d) => `domain-${d}`);
  const from = domains.map(() => (rng() < 0.15 ? Number.POSITIVE_INFINITY : rng() < 0.3 ? below(30) : 0));
  const even = domains.map(() => k % 5 === 2 && rng() < 0.7);
  const pausing = rng() < 0.5 ? 0.5 : 0.1;
  let step = below(4);
  const steps = Array.from({ length: k % 20 === 0 ? 0 : 1 + below(60) }, () => {
    step += rng() < 0.3 ? 1 + below(5) : 1;
    const none = rng() < 0.05;
    const counts = from.map((first, d) => (none || step < first || rng() < pausing ? 0 : even[d] ? 3 : 1 + below(6)));
    const sums = counts.map((n, d) => {
      const turn = below(3);
      const scores = Array.from({ length: n }, (_, i) => (even[d] ? TENTHS[(i + turn) % 3]! : scoreOf(k % 5, rng)));
      return scores.reduce((a, b) => a + b, 0);
    });
    return { step, trigger: 0, sums, counts };
  });
  const weights = rng() < 0.4 ? domains.map(() => 1) : shares(rng, size);
  const total = weights.reduce((a, b) => a + b, 0);
  const floor = rng() < 0.25 ? 0 : rng() / size;
  return {
    kind: "mixer",
    name,
    params: {
      ...PARAMS[name]!(rng, size),
      ...(!WITHOUT_FLOOR.includes(name) && { floor, floor_mode: rng() < 0.5 ? "mix" : "clip" }),
    },
    series: {
      domains,
      prior: weights.map((weight) => weight / total),
      steps,
      window: rng() < 0.5 ? 1 + below(10) : 50,
      warmup_step: below(12),
      update_step: rng() < 0.4 ? 1 : 2 + below(8),
    },
    step,
  };
}
