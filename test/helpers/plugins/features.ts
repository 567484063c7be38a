import { defineScorer, z } from "dataflex-mq";

/** The length of each row's vector, under the usual name and under one of its own. */
const norm = (name: string, field: string) =>
  defineScorer({
    name,
    requires: [{ name: field, kind: "features" }, "response_mask"],
    timing: "post_reward",
    granularity: "row",
    rows: "independent",
    params: z.strictObject({}),
    score(batch) {
      const { width, values } = batch.features(field);
      return Float64Array.from({ length: batch.rows }, (_, row) =>
        Math.hypot(...values.subarray(row * width, (row + 1) * width)),
      );
    },
  });

export const featureNorm = norm("feature_norm", "features");
export const embeddingNorm = norm("embedding_norm", "prompt_embedding");

/** Rows of a column of strings of its own. */
export const sourceIs = defineScorer({
  name: "source_is",
  requires: [{ name: "source", kind: "strings" }, "response_mask"],
  timing: "post_reward",
  granularity: "row",
  rows: "independent",
  params: z.strictObject({ source: z.string() }),
  score: (batch, { params }) => batch.strings("source").map((source) => Number(source === params.source)),
});
