import { z } from "zod";
import { softmax } from "../../mix/simplex.js";
import { defineMixer } from "../define.js";
import { FLOOR_DIFFERS, FLOOR_DOC, FLOOR_RULES, floorParams, UNSEEN_EDGE } from "./floor.js";

/**
 * More of the domains whose reward is changing.
 *
 * p = softmax(|slope_d| / temperature), `signed`: softmax(max(slope_d, 0) / temperature); slope_d the least-squares slope of the steps' mean
 * scores over step numbers, over the last `window` steps in which the domain had rows; then the floor.
 *
 * Example: slopes .1 −.07 0, temperature .05, no floor → .5938 .3259 .0804.
 * Source: arXiv 1707.00183 (teacher-student curriculum learning).
 */
export const tscl = defineMixer({
  name: "tscl",
  scorer: "required",
  default_scorer: "reward_difficulty",
  params: z.strictObject({
    temperature: z.number().positive().default(1),
    signed: z.boolean().default(false),
    cold_slope: z.number().min(0).default(0),
    ...floorParams(0.05),
  }),
  rules: FLOOR_RULES,
  doc: {
    summary: "More of the domains whose reward is changing, in either direction.",
    formula:
      "p = softmax(|slope_d| / temperature), signed: softmax(max(slope_d, 0) / temperature), then the floor; slope_d over step numbers",
    edges: [
      UNSEEN_EDGE,
      "before any data: the prior",
      "a domain with rows in fewer than two steps has slope cold_slope",
      "slopes of rewards are small (.01 a step): with temperature 1 the shares are uniform to three digits, so lower it",
    ],
    params: {
      temperature: "> 0; the paper's code uses 0.0004, the original 1",
      signed: "true: only domains that improve; false: forgetting counts as much as learning",
      cold_slope: "slope of a domain with rows in fewer than two steps, >= 0; the paper's code uses 1 (optimistic)",
      ...FLOOR_DOC,
    },
    source: {
      ref: "arXiv 1707.00183",
      verified: "authors' and DataFlex-RL code read, fixture E8 recomputed",
      differs: `the original's trainer feeds it means instead of slopes. ${FLOOR_DIFFERS}. The paper's window is 10 points`,
    },
  },
  propose(series, { params: { temperature, signed, cold_slope } }) {
    const slopes = series.slopes(cold_slope);
    return softmax(
      slopes.map((slope) => (signed ? Math.max(slope, 0) : Math.abs(slope))),
      temperature,
    );
  },
});
