import { z } from "zod";
import { softmax } from "../../mix/simplex.js";
import { defineMixer } from "../define.js";
import { FLOOR_DOC, FLOOR_RULES, floorParams, UNSEEN_EDGE } from "./floor.js";

/**
 * One update of the moving averages: r_d ← alpha · r_d + (1 − alpha) · mean_d. The first mean is taken as it is; a domain without rows keeps
 * its average.
 */
export function movingAverages(
  before: readonly (number | undefined)[],
  means: readonly (number | undefined)[],
  alpha: number,
): (number | undefined)[] {
  return means.map((mean, d) => {
    const old = before[d];
    if (mean === undefined) return old;
    return old === undefined ? mean : alpha * old + (1 - alpha) * mean;
  });
}

/**
 * More of the domains that are far from a target reward.
 *
 * r_d ← alpha · r_d + (1 − alpha) · mean_d at every update; v_d = max(0, target − r_d); p = softmax((v_d + eps) / temperature); then the floor.
 *
 * Example: averages .5 .8, target 1, temperature .3 → .7311 .2689.
 * Source: arXiv 2506.08672 (RuleReasoner), exponential form.
 */
export const dads = defineMixer({
  name: "dads",
  scorer: "required",
  default_scorer: "reward_difficulty",
  params: z.strictObject({
    alpha: z.number().min(0).lt(1).default(0.5),
    eps: z.number().min(0).default(0.1),
    target: z.number().default(1),
    temperature: z.number().positive().default(0.3),
    ...floorParams(0),
  }),
  rules: FLOOR_RULES,
  doc: {
    summary: "More of the domains whose smoothed reward is far below a target.",
    formula:
      "r_d <- alpha r_d + (1-alpha) mean_d each update; v_d = max(0, target - r_d); p = softmax((v_d + eps)/temperature), then the floor",
    edges: [
      UNSEEN_EDGE,
      "before any data: the prior",
      "an average of exactly 0 is an average, not an absent one",
      "a domain without rows in an update keeps its average",
    ],
    params: {
      alpha: "how much of the average is kept, in [0, 1)",
      eps: "added to every value, >= 0; without effect on the softmax, kept because the source has it",
      target: "reward from which a domain's value is 0",
      temperature: "> 0; the authors' script uses 0.3, their configuration 0.8",
      ...FLOOR_DOC,
    },
    source: {
      ref: "arXiv 2506.08672",
      verified: "authors' code read, fixture E14 recomputed",
      differs:
        "the repository's default, a decayed buffer of step lists, is not offered; absent domains keep their last weight (the source drops them); " +
        "the authors update every 8 steps: set update_step",
    },
  },
  propose(series, { params: { alpha, eps, target, temperature } }) {
    const none = series.domains.map((): number | undefined => undefined);
    const averages = series.fold(none, (state, { means }) => movingAverages(state, means, alpha));
    return softmax(
      averages.map((average) => Math.max(0, target - (average ?? target)) + eps),
      temperature,
    );
  },
});
