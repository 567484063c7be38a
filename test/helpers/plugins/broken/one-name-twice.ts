import { defineScorer, z } from "dataflex-mq";

const twin = () =>
  defineScorer({
    name: "twin",
    timing: "post_advantage",
    granularity: "response",
    params: z.strictObject({}),
    score: (batch) => batch.live,
  });
export const first = twin();
export const second = twin();
