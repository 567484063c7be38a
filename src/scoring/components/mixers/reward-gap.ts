import { z } from "zod";
import { softmax } from "../../mix/simplex.js";
import { defineMixer } from "../define.js";
import { FLOOR_DIFFERS, FLOOR_DOC, FLOOR_RULES, floorParams, UNSEEN_EDGE } from "./floor.js";

/**
 * More of the domains that lag behind.
 *
 * p = softmax((max_d' r_d' − r_d) / temperature), r_d the mean score over the last `window` steps in which the domain had rows; then the
 * floor.
 *
 * Example: means .9 .5 .1, temperature 1, floor .05 → .2120 .3162 .4718.
 * Source: DataFlex-RL mixers.py.
 */
export const rewardGap = defineMixer({
  name: "reward_gap",
  scorer: "required",
  default_scorer: "reward_difficulty",
  params: z.strictObject({ temperature: z.number().positive().default(1), ...floorParams(0.05) }),
  rules: FLOOR_RULES,
  doc: {
    summary: "More of the domains whose mean reward lags behind the best.",
    formula: "p = softmax((max_d' r_d' - r_d) / temperature), then the floor; r_d = windowed mean score",
    edges: [UNSEEN_EDGE, "before any data: the prior", "equal means: equal shares"],
    params: { temperature: "> 0; small: the worst domain gets almost everything, large: uniform", ...FLOOR_DOC },
    source: {
      ref: "DataFlex-RL mixers.py",
      verified: "code read, fixture E8 recomputed",
      differs: `an unseen domain does not count as reward 0; ${FLOOR_DIFFERS}`,
    },
  },
  propose(series, { params }) {
    const means = series.means();
    const best = Math.max(...means);
    return softmax(
      means.map((mean) => best - mean),
      params.temperature,
    );
  },
});
