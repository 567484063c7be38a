import { z } from "zod";
import { normalized } from "../../mix/simplex.js";
import { defineMixer } from "../define.js";

/**
 * Fixed proportions.
 *
 * p_d = proportions_d / Σ proportions; without the parameter the prior. Depends on nothing that was scored.
 *
 * Example: [2, 1, 1] → .5, .25, .25.
 * Source: DataFlex-RL mixers.py.
 */
export const staticMixer = defineMixer({
  name: "static",
  scorer: "none",
  rows: "independent",
  params: z.strictObject({ proportions: z.array(z.number().min(0)).min(1).nullable().default(null) }),
  rules: [{ rule: "shares", params: ["proportions"] }],
  doc: {
    summary: "Fixed proportions.",
    formula: "p_d = proportions_d / sum of proportions",
    edges: ["without proportions: the prior (uniform unless the pipeline's option prior says otherwise)"],
    params: { proportions: "one number >= 0 per domain, in the order of domains, with a sum above 0; null: the prior" },
    source: {
      ref: "DataFlex-RL mixers.py",
      verified: "code read, fixture E8 recomputed",
      differs: "length and sign are checked at mount",
    },
  },
  propose: (series, { params }) => (params.proportions === null ? series.prior : normalized(params.proportions)),
});
