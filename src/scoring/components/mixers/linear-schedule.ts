import { z } from "zod";
import { normalized } from "../../mix/simplex.js";
import { defineMixer } from "../define.js";

/**
 * Proportions that move from one mixture to another over steps.
 *
 * x = clip((step − begin_step) / (end_step − begin_step), 0, 1); p = (1 − x) · start + x · end, both divided by their sums.
 *
 * Example: start 1 0, end 0 1, begin 0, end 10, step 3 → .7 .3.
 * Source: ours; the hand-made curriculum.
 */
export const linearSchedule = defineMixer({
  name: "linear_schedule",
  scorer: "none",
  rows: "independent",
  params: z.strictObject({
    start: z.array(z.number().min(0)).min(1).nullable().default(null),
    end: z.array(z.number().min(0)).min(1),
    begin_step: z.int().min(0).default(0),
    end_step: z.int().min(1),
  }),
  rules: [
    { rule: "shares", params: ["start"] },
    { rule: "shares", params: ["end"] },
    { rule: "less", params: ["begin_step", "end_step"] },
  ],
  doc: {
    summary: "Proportions that move linearly from one mixture to another.",
    formula: "x = clip((step - begin_step)/(end_step - begin_step), 0, 1); p = (1-x) start + x end",
    edges: [
      "without start: the prior",
      "before begin_step: start; after end_step: end",
      "the proportions of step s are those with which the next prompts are drawn; they change at updates only (update_step)",
    ],
    params: {
      start: "one number >= 0 per domain, sum above 0; null: the prior",
      end: "one number >= 0 per domain, sum above 0",
      begin_step: "step until which start holds",
      end_step: "step from which end holds",
    },
    source: { ref: "ours", verified: "by hand-made numbers; no published source: it is plain interpolation" },
  },
  propose(series, { params: { start, end, begin_step, end_step }, step }) {
    const x = Math.min(1, Math.max(0, (step - begin_step) / (end_step - begin_step)));
    const from = start === null ? series.prior : normalized(start);
    const to = normalized(end);
    return from.map((share, d) => (1 - x) * share + x * to[d]!);
  },
});
