import type { CatalogueEntry } from "../../mounting/catalogue/catalogue-entry.js";
import type { FieldNeed } from "../../protocol/messages.js";
import { fieldsText } from "./mount-text.js";

/** When a component runs. */
export function stageText(entry: CatalogueEntry): string {
  if (entry.kind === "policy") return "pre_rollout; fed at post_reward";
  if (entry.kind === "mixer" && entry.scorer === "none") return entry.timing ?? "post_reward, or its scorer's";
  return entry.timing ?? "its scorer's";
}

/** What a component gives or takes. */
export function takesText(entry: CatalogueEntry): string {
  if (entry.kind === "policy")
    return "candidate prompts, one row each, and what earlier steps told about them; no scorer";
  if (entry.kind === "mixer") {
    if (entry.scorer === "none") return "nothing that was scored; needs no scorer";
    const own = entry.default_scorer === undefined ? "" : `; scorer where none is named: ${entry.default_scorer}`;
    return `the history of one score a row, by domain${own}`;
  }
  const shape = entry.granularity ?? entry.accepts;
  return shape === "token" ? "one score a token" : "one score a row";
}

/** The fields that a component reads, as far as it decides itself. */
export function fieldLines(entry: CatalogueEntry): string[] {
  if (entry.kind === "mixer") return [fieldsText([...entry.needs, { name: "the column that domain_key names" }])];
  if (entry.feed_needs === undefined) return [fieldsText(entry.needs)];
  const fed: readonly FieldNeed[] = entry.feed_needs;
  return [`of the candidates: ${fieldsText(entry.needs)}`, `of the responses that feed it: ${fieldsText(fed)}`];
}

/** What a component must see together. */
export function seesText(entry: CatalogueEntry): string {
  if (entry.kind === "mixer") return "every step so far";
  if (entry.kind === "policy") return "all candidates of a step, and the steps before";
  return { independent: "each row alone", group: "whole groups", batch: "the whole step" }[entry.rows];
}
