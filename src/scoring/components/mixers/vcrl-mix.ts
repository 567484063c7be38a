import { z } from "zod";
import { softmax } from "../../mix/simplex.js";
import { defineMixer } from "../define.js";
import { FLOOR_DOC, FLOOR_RULES, floorParams, UNSEEN_EDGE } from "./floor.js";

/**
 * More of the domains whose groups are undecided.
 *
 * p = softmax(mean_d / temperature), mean_d the windowed mean of the groups' reward variance in [0, 1]; then the floor.
 *
 * Example: mean variances 1 .75, temperature 1, no floor → .5622 .4378.
 * Source: arXiv 2509.19803 (VCRL) for the score; the mixture over domains is ours.
 */
export const vcrlMix = defineMixer({
  name: "vcrl_mix",
  scorer: "required",
  default_scorer: "group_reward_variance",
  params: z.strictObject({ temperature: z.number().positive().default(1), ...floorParams(0.05) }),
  rules: FLOOR_RULES,
  doc: {
    summary: "More of the domains whose groups are neither solved nor failed throughout.",
    formula:
      "p = softmax(mean_d / temperature), then the floor; mean_d = windowed mean of the normalised group variance",
    edges: [UNSEEN_EDGE, "before any data: the prior", "equal means: equal shares"],
    params: { temperature: "> 0; variances lie in [0, 1], so 1 is mild and 0.1 strong", ...FLOOR_DOC },
    source: {
      ref: "arXiv 2509.19803",
      verified:
        "only the score, against a summary of the paper; that domains are mixed by it is ours and not published",
      differs: "the paper selects prompts with a memory bank; here domains are weighted by the mean of its score",
    },
  },
  propose: (series, { params: { temperature } }) => softmax(series.means(), temperature),
});
