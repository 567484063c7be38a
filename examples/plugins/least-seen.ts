import { defineMixer, z } from "dataflex-mq";

/** Evens out what was seen: a domain's share falls with the rows it has had. p_d ∝ 1 / (pseudo + rows_d), `(domains,)`, sum 1. */
export const leastSeen = defineMixer({
  name: "least_seen",
  scorer: "required",
  // Only which rows there were matters, so any row score will do.
  default_scorer: "response_length",
  params: z.strictObject({ pseudo: z.number().positive().default(1) }),
  doc: {
    summary: "A domain's share falls with the rows it has had.",
    formula: "p_d = (1 / (pseudo + rows_d)) / sum over domains",
    edges: ["a domain that was never seen keeps its prior share", "before any data: the prior"],
    params: { pseudo: "> 0; rows that every domain counts as having had beforehand" },
    source: { ref: "an example", verified: "its test beside it" },
  },
  propose(series, { params: { pseudo } }) {
    const raw = series.counts().map((rows) => 1 / (pseudo + rows));
    const sum = raw.reduce((total, share) => total + share, 0);
    return raw.map((share) => share / sum);
  },
});
