import { z } from "zod";
import { softmax } from "../../mix/simplex.js";
import { defineMixer } from "../define.js";
import { FLOOR_DIFFERS, FLOOR_DOC, FLOOR_RULES, floorParams, UNSEEN_EDGE } from "./floor.js";

/**
 * More of the domains that still move the policy, and of those seldom visited.
 *
 * p = softmax((v_d + c · sqrt(2 ln(N + 1) / (n_d + 1))) / temperature): v_d the mean |advantage| over the last `window` steps in which the
 * domain had rows, n_d its rows since the beginning, N = Σ n_d; then the floor.
 *
 * Example: v .9 .5 .1, n 100 50 10, temperature 1, no floor → .3819 .2913 .3268.
 * Source: arXiv 2504.09710 (DUMP).
 */
export const dumpUcb = defineMixer({
  name: "dump_ucb",
  scorer: "required",
  default_scorer: "advantage_magnitude",
  params: z.strictObject({
    temperature: z.number().positive().default(1),
    c: z.number().min(0).default(1),
    ...floorParams(0.05),
  }),
  rules: FLOOR_RULES,
  doc: {
    summary: "More of the domains with large advantages, plus a bonus for those seldom visited.",
    formula:
      "p = softmax((v_d + c sqrt(2 ln(N+1)/(n_d+1))) / temperature), then the floor; v_d = windowed mean |A|, n_d = rows seen, N = sum n_d",
    edges: [
      UNSEEN_EDGE,
      "before any data: the prior",
      "n_d counts rows since the beginning, v_d looks back window steps",
    ],
    params: {
      temperature: "> 0; the paper's code uses 0.1, the original 1",
      c: "weight of the bonus, >= 0; 0: means only",
      ...FLOOR_DOC,
    },
    source: {
      ref: "arXiv 2504.09710",
      verified: "authors' and DataFlex-RL code read, fixture E8 recomputed",
      differs: `the original's trainer feeds it rewards and no counts; here it gets |A| and counts. ${FLOOR_DIFFERS}. The paper's window is 300 rows`,
    },
  },
  propose(series, { params: { temperature, c } }) {
    const counts = series.counts();
    const total = counts.reduce((sum, n) => sum + n, 0);
    const values = series.means();
    const upper = values.map((value, d) => value + c * Math.sqrt((2 * Math.log(total + 1)) / (counts[d]! + 1)));
    return softmax(upper, temperature);
  },
});
