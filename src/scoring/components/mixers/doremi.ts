import { z } from "zod";
import { softmax } from "../../mix/simplex.js";
import { defineMixer } from "../define.js";
import { FLOOR_DOC, FLOOR_RULES, floorParams, UNSEEN_EDGE } from "./floor.js";

/** One update: a_d ← a_d · exp(eta · excess_d) over its sum, then (1 − c) a_d + c/K. In logarithms: no excess can overflow. */
export function doremiUpdate(
  weights: readonly number[],
  excess: readonly number[],
  eta: number,
  smoothing: number,
): number[] {
  const grown = softmax(weights.map((weight, d) => Math.log(weight) + eta * excess[d]!));
  return grown.map((weight) => (1 - smoothing) * weight + smoothing / weights.length);
}

interface State {
  readonly weights: readonly number[];
  readonly excess: readonly number[];
  readonly total: readonly number[];
  readonly updates: number;
}

/**
 * Multiplicative weights on how far each domain lags behind the best.
 *
 * lambda_d = max_d' r_d' − r_d of the update (kept where the domain had no rows); a ← a · exp(eta · lambda) over its sum; a ← (1 − c) a + c/K;
 * starts from the prior; then the floor. `average`: the running average of a.
 *
 * Example: uniform, lambda .6 .2 0, eta 1, c .001 → .4505 .3021 .2474; again → .5709 .2568 .1723.
 * Source: arXiv 2305.10429 (DoReMi).
 */
export const doremi = defineMixer({
  name: "doremi",
  scorer: "required",
  default_scorer: "reward_difficulty",
  params: z.strictObject({
    eta: z.number().min(0).default(1),
    smoothing: z.number().min(0).max(1).default(1e-3),
    average: z.boolean().default(false),
    ...floorParams(0),
  }),
  rules: FLOOR_RULES,
  doc: {
    summary: "Multiplicative weights: the shares of domains that lag behind the best grow with every update.",
    formula:
      "lambda_d = max mean - mean_d; a <- a exp(eta lambda)/sum; a <- (1-c) a + c/K; p = a, or its running average; then the floor",
    edges: [
      UNSEEN_EDGE,
      "before any data: the prior, which is also where the weights start",
      "a domain without rows in an update keeps its last lambda",
      "weights grow as long as gaps last: a lasting gap gives one domain almost everything in the end; smoothing and floor bound it",
    ],
    params: {
      eta: "step size, >= 0",
      smoothing:
        "c, share given out equally at every update, in [0, 1]; the authors' script uses 0.001, their default is 0.0001",
      average: "true: the running average over all updates, which the paper trains its final model with",
      ...FLOOR_DOC,
    },
    source: {
      ref: "arXiv 2305.10429",
      verified: "authors' code read, fixture E14 recomputed",
      differs: "the excess is the gap to the best domain's mean score, not the loss above a reference model's",
    },
  },
  propose(series, { params: { eta, smoothing, average } }) {
    const zero = series.domains.map(() => 0);
    const start: State = { weights: series.prior, excess: zero, total: zero, updates: 0 };
    const end = series.fold(start, (state, { means }): State => {
      const best = means.reduce<number>((max, mean) => Math.max(max, mean ?? max), Number.NEGATIVE_INFINITY);
      const excess = means.map((mean, d) => (mean === undefined ? state.excess[d]! : best - mean));
      const weights = doremiUpdate(state.weights, excess, eta, smoothing);
      const total = state.total.map((sum, d) => sum + weights[d]!);
      return { weights, excess, total, updates: state.updates + 1 };
    });
    return average && end.updates > 0 ? end.total.map((sum) => sum / end.updates) : end.weights;
  },
});
