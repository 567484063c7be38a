import { z } from "zod";
import { softmax, uniform } from "../../mix/simplex.js";
import { defineMixer } from "../define.js";
import { FLOOR_DOC, FLOOR_RULES, floorParams, UNSEEN_EDGE } from "./floor.js";

/** What the bandit knows: shares it played, and the importance-weighted sum of what it got for each domain. */
export interface Exp3State {
  readonly shares: readonly number[];
  readonly gains: readonly number[];
}

/**
 * One update. `rewards` in [0, 1]; `undefined` for domains that were not drawn.
 * @param t number of the update, from 1.
 */
export function exp3Update(
  { shares, gains }: Exp3State,
  rewards: readonly (number | undefined)[],
  t: number,
): Exp3State {
  const size = shares.length;
  const exploration = (update: number): number =>
    update === 0 ? 1 / size : Math.min(1 / size, Math.sqrt(Math.log(size) / (size * update)));
  const sums = gains.map((gain, d) => gain + (rewards[d] ?? 0) / shares[d]!);
  const eps = exploration(t);
  const played = softmax(sums.map((sum) => exploration(t - 1) * sum));
  return { gains: sums, shares: played.map((share) => (1 - size * eps) * share + eps) };
}

/**
 * A bandit over domains: each update rewards the domains that were drawn, divided by how likely that was.
 *
 * R_d ← R_d + r_d / p_d; eps_t = min(1/K, sqrt(ln K / (K t))); p = (1 − K eps_t) · softmax(eps_{t−1} R) + eps_t; then the floor. r_d = the
 * domain's gap to the best mean of the update (`signal: gap`) or its mean (`mean`), over `scale`, cut to [0, 1].
 *
 * Example: K = 3, r = 1 .5 0 as a first update at t = 10 → .3778 .3291 .2931; at t = 1 and 2 uniform.
 * Source: arXiv 2312.02406 (online data mixing).
 */
export const exp3 = defineMixer({
  name: "exp3",
  scorer: "required",
  default_scorer: "reward_difficulty",
  params: z.strictObject({
    signal: z.enum(["gap", "mean"]).default("gap"),
    scale: z.number().positive().default(1),
    ...floorParams(0),
  }),
  rules: FLOOR_RULES,
  doc: {
    summary: "A bandit (EXP3) over domains, rewarded by how much there is to gain in each.",
    formula:
      "R_d += r_d/p_d; eps_t = min(1/K, sqrt(ln K/(K t))); p = (1 - K eps_t) softmax(eps_(t-1) R) + eps_t, then the floor; r_d = (max mean - mean_d)/scale or mean_d/scale, in [0, 1]",
    edges: [
      UNSEEN_EDGE,
      "before any data: the prior",
      "uniform while t <= K ln K: the exploration takes everything",
      "a domain without rows in an update gets no reward in it",
      "p_d is the share that the bandit itself proposed, starting from equal shares",
    ],
    params: {
      signal:
        "gap: distance to the best domain's mean of the same update; mean: the mean itself (with advantage_magnitude)",
      scale: "> 0; what counts as reward 1, larger signals are cut",
      ...FLOOR_DOC,
    },
    source: {
      ref: "arXiv 2312.02406",
      verified: "authors' code read, fixture E14 recomputed",
      differs:
        "the paper rewards a domain with its training loss (over 10); here with the reward gap or the mean score, over scale",
    },
  },
  propose(series, { params: { signal, scale } }) {
    const start: Exp3State = { shares: uniform(series.domains.length), gains: series.domains.map(() => 0) };
    return series.fold(start, (state, { number, means }) => {
      const best = means.reduce<number>((max, mean) => Math.max(max, mean ?? max), Number.NEGATIVE_INFINITY);
      const rewards = means.map((mean) => {
        if (mean === undefined) return undefined;
        return Math.min(1, Math.max(0, (signal === "gap" ? best - mean : mean) / scale));
      });
      return exp3Update(state, rewards, number);
    }).shares;
  },
});
