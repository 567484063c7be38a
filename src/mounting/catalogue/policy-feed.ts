import type { FieldNeed, PipelineSpec } from "../../protocol/pipeline-spec.js";
import type { CatalogueEntry } from "./catalogue-entry.js";

/** A policy in its role as reader of the responses that feed it; `undefined` for every other component. */
export function feedEntry(entry: CatalogueEntry): CatalogueEntry | undefined {
  return entry.feed_needs === undefined ? undefined : { ...entry, needs: entry.feed_needs };
}

export function feedName(pipeline: string): string {
  return `_feed-${pipeline}`;
}

/**
 * The hidden pipeline that feeds a policy: it delivers nothing, but adds a summary of each step's responses to the state that the
 * choosing pipeline reads. Names of users' pipelines never begin with `_`.
 */
export function feedSpec(spec: PipelineSpec, fields: readonly FieldNeed[]): PipelineSpec {
  return {
    ...spec,
    name: feedName(spec.name),
    stage: "post_reward",
    fields,
    policy: { role: "feed" },
    shadow: true,
  };
}
