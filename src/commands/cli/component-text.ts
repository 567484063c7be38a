import { DataflexError } from "../../errors.js";
import type { Catalogue, CatalogueEntry } from "../../mounting/catalogue/catalogue-entry.js";
import { ruleText } from "../../mounting/catalogue/rules.js";
import { describeProperty, propertiesOf } from "../../mounting/config/describe.js";
import type { FieldNeed } from "../../protocol/pipeline-spec.js";
import { KINDS, kindPlural } from "../../scoring/components/component-types.js";
import { didYouMean, listNames } from "../../suggest.js";
import { fieldsText } from "./mount-text.js";

/** The entries of a name (kinds may share one). @throws DataflexError USAGE for an unknown name, with near names. */
export function entriesNamed(catalogue: Catalogue, name: string): CatalogueEntry[] {
  const entries = catalogue.entries.filter((entry) => entry.name === name);
  if (entries.length > 0) return entries;
  const names = catalogue.entries.map((entry) => entry.name).sort();
  const parts = name.length < 3 ? [] : [...new Set(names.filter((known) => known.includes(name)))];
  const near = parts.length > 0 ? `do you mean ${listNames(parts)}?` : didYouMean(name, names);
  throw new DataflexError(
    "USAGE",
    `no component is called "${name}"${near === undefined ? "" : `; ${near}`}\nregistered: ${listNames(names)}`,
    { name },
  );
}

/** All entries, kind after kind: name, stage, shape, summary. */
export function listText(entries: readonly CatalogueEntry[]): string {
  const width = Math.max(...entries.map((entry) => entry.name.length));
  const lines = KINDS.flatMap((kind) => {
    const own = entries.filter((entry) => entry.kind === kind);
    if (own.length === 0) return [];
    const rows = own.map((entry) => {
      const cells = [entry.name.padEnd(width), (entry.timing ?? "").padEnd(14), shapeOf(entry).padEnd(8)];
      return `  ${cells.join("  ")}  ${entry.doc.summary ?? ""}`.trimEnd();
    });
    return [kindPlural(kind), ...rows, ""];
  });
  return [...lines, "All about one: dataflex-mq components NAME", ""].join("\n");
}

/** Everything about one component. */
export function detailText(entry: CatalogueEntry): string {
  const body = detailSections(entry).flatMap(([title, lines]) =>
    lines.map((line, i) => `  ${(i === 0 ? title : "").padEnd(10)}  ${line}`.trimEnd()),
  );
  return [
    `${entry.name}   ${entry.kind}`,
    ...(entry.doc.summary === undefined ? [] : [`  ${entry.doc.summary}`]),
    "",
    ...body,
    "",
  ].join("\n");
}

export type Section = readonly [title: string, lines: readonly string[]];

/** The description of a component apart from its name and summary; docs/components.md is generated from the same. */
export function detailSections(entry: CatalogueEntry): Section[] {
  const { doc } = entry;
  const params = Object.entries(propertiesOf(entry.params)).map(([name, property]) => {
    const meaning = doc.params?.[name];
    return `${name} (${describeProperty(property)})${meaning === undefined ? "" : `: ${meaning}`}`;
  });
  const rules = entry.rules.map(ruleText);
  const source = doc.source;
  return [
    ["formula", doc.formula === undefined ? [] : doc.formula.split("\n")],
    ["stage", [stageText(entry)]],
    [entry.kind === "scorer" ? "gives" : "takes", [takesText(entry), ...(doc.score === undefined ? [] : [doc.score])]],
    ["fields", fieldLines(entry)],
    ["sees", [seesText(entry)]],
    [
      "groups",
      [entry.needs_groups ? "needed: an advantage estimator with groups, two rows a prompt at least" : "not needed"],
    ],
    ["parameters", params.length === 0 ? ["none"] : [...params, ...rules]],
    ["edges", doc.edges ?? []],
    ["source", source === undefined ? [] : [source.ref, `checked: ${source.verified}`]],
    ["differs", source?.differs === undefined ? [] : [source.differs]],
  ];
}

function shapeOf(entry: CatalogueEntry): string {
  return entry.granularity ?? entry.accepts ?? "";
}

/** When a component runs. */
function stageText(entry: CatalogueEntry): string {
  if (entry.kind === "policy") return "pre_rollout; fed at post_reward";
  if (entry.kind === "mixer" && entry.scorer === "none") return entry.timing ?? "post_reward, or its scorer's";
  if (entry.timing_param !== undefined) return `${entry.timing}, or what ${entry.timing_param} says`;
  return entry.timing ?? "its scorer's";
}

/** What a component gives or takes. */
function takesText(entry: CatalogueEntry): string {
  if (entry.kind === "policy")
    return "candidate prompts, one row each, and what earlier steps showed about them; no scorer";
  if (entry.kind === "mixer") {
    if (entry.scorer === "none") return "no scores; needs no scorer";
    const own = entry.default_scorer === undefined ? "" : `; scorer where none is named: ${entry.default_scorer}`;
    return `the history of one score per row, by domain${own}`;
  }
  const shape = entry.granularity ?? entry.accepts;
  return shape === "token" ? "one score per token" : "one score per row";
}

/** The fields that a component declares. */
function fieldLines(entry: CatalogueEntry): string[] {
  if (entry.kind === "mixer") return [fieldsText([...entry.needs, { name: "the column that domain_key names" }])];
  const named = (entry.named_needs ?? []).map(({ param }) => ({ name: `the field that ${param} names` }));
  if (entry.feed_needs === undefined) return [fieldsText([...entry.needs, ...named])];
  const fed: readonly FieldNeed[] = entry.feed_needs;
  return [`of the candidates: ${fieldsText(entry.needs)}`, `of the responses that feed it: ${fieldsText(fed)}`];
}

/** What a component must see together. */
function seesText(entry: CatalogueEntry): string {
  if (entry.kind === "mixer") return "every step so far";
  if (entry.kind === "policy") return "all candidates of a step, and the steps before";
  return { independent: "each row alone", group: "whole groups", batch: "the whole step" }[entry.rows];
}
