import { z } from "zod";
import { normalized, uniform } from "../../mix/simplex.js";
import { defineMixer } from "../define.js";
import { FLOOR_DOC, FLOOR_RULES, floorParams, UNSEEN_EDGE } from "./floor.js";

/**
 * p = (1 − rho) · P_S + rho · P_C with P_S ∝ rank^(−1/beta) (rank 1: the highest score; equal scores: the earlier domain) and P_C ∝ staleness
 * (equal shares when nothing is stale).
 */
export function plrShares(
  scores: readonly number[],
  staleness: readonly number[],
  beta: number,
  rho: number,
): number[] {
  // Compared as float32, or rounding errors of the means would decide between equal domains.
  const rounded = scores.map((score) => Math.fround(score));
  const order = scores.map((_, d) => d).sort((a, b) => rounded[b]! - rounded[a]! || a - b);
  const byRank = scores.map((_, d) => (order.indexOf(d) + 1) ** (-1 / beta));
  const stale = staleness.some((steps) => steps > 0) ? normalized(staleness) : uniform(scores.length);
  return normalized(byRank).map((share, d) => (1 - rho) * share + rho * stale[d]!);
}

/**
 * More of the domains that rank first, and of those not visited for long.
 *
 * p = (1 − rho) · P_S + rho · P_C: P_S ∝ rank_d^(−1/beta) by the windowed mean score, P_C ∝ steps since the domain had rows; then the floor.
 *
 * Example: scores .9 .5 .1, staleness 0 1 5, beta 1, rho .1 → .4909 .2621 .2470.
 * Source: arXiv 2010.03934 (prioritized level replay).
 */
export const plr = defineMixer({
  name: "plr",
  scorer: "required",
  default_scorer: "advantage_magnitude",
  params: z.strictObject({
    beta: z.number().positive().default(1),
    rho: z.number().min(0).max(1).default(0.1),
    ...floorParams(0),
  }),
  rules: FLOOR_RULES,
  doc: {
    summary: "More of the domains with the highest score by rank, and of those not visited for long.",
    formula:
      "p = (1-rho) P_S + rho P_C, then the floor; P_S ~ rank^(-1/beta) by windowed mean score, P_C ~ steps since the last rows",
    edges: [
      UNSEEN_EDGE,
      "before any data: the prior",
      "equal scores: the earlier domain ranks first",
      "nothing stale: P_C is uniform",
    ],
    params: {
      beta: "> 0; the smaller, the greedier: 0.1, the authors' value for hundreds of levels, gives the first of few domains almost everything",
      rho: "share given by staleness instead of score, in [0, 1]",
      ...FLOOR_DOC,
    },
    source: {
      ref: "arXiv 2010.03934",
      verified: "authors' code read, fixture E14 recomputed",
      differs:
        "levels are domains; beta is 1 by default; an unseen domain keeps its prior share (the source gives it none until its first visit)",
    },
  },
  propose: (series, { params: { beta, rho } }) => plrShares(series.means(), series.staleness(), beta, rho),
});
