import { kindOf } from "../../columns/field-kinds.js";
import { isFieldName, isStringField } from "../../columns/field-names.js";
import type { Problem } from "../../protocol/mount-messages.js";
import type { FieldNeed, PipelineSpec } from "../../protocol/pipeline-spec.js";
import { STAGES, type Stage } from "../../protocol/stages.js";
import { kindConflict, namedNeeds } from "../../scoring/components/needs.js";
import { show } from "../config/describe.js";
import type { CatalogueEntry } from "./catalogue-entry.js";
import type { Place } from "./resolution.js";
import { stageOfField } from "./wanted-fields.js";

/** A component as it stands in a pipeline: it reads the fields that its parameters name, when these exist. */
export function withNamedFields(
  entry: CatalogueEntry,
  params: Readonly<Record<string, unknown>> | undefined,
  at: Place,
  problems: Problem[],
): CatalogueEntry {
  if (entry.named_needs === undefined || params === undefined) return entry;
  const named = namedNeeds(entry.named_needs, params);
  for (const { name, kind } of named) {
    const message = isFieldName(name)
      ? isStringField(name) && kind !== "strings" && `${entry.name}: "${name}" holds strings, it reads numbers`
      : `${entry.name}: ${show(name)} is not a field name (a letter or _, then letters, digits, _ . -, at most 96 characters)`;
    if (message) problems.push({ path: at.params, message });
  }
  return { ...entry, needs: [...entry.needs, ...named], timing: stageOf(entry, params, named) };
}

function stageOf(entry: CatalogueEntry, params: Readonly<Record<string, unknown>>, named: readonly FieldNeed[]): Stage {
  const asked = entry.timing_param === undefined ? undefined : params[entry.timing_param];
  if (typeof asked === "string") return asked as Stage;
  const known = [...entry.needs, ...named].map(({ name }) => stageOfField(name) ?? "post_reward");
  return STAGES.findLast((stage) => known.includes(stage)) ?? "post_reward";
}

interface Reader {
  readonly who: string;
  readonly path: Problem["path"];
  readonly needs: readonly FieldNeed[];
}

/** Components of one pipeline that read one field in forms which exclude each other: no put could serve both. */
export function checkKinds(parts: readonly { entry: CatalogueEntry; at: Place }[], problems: Problem[]): void {
  const readers = parts.map(({ entry, at }) => ({
    who: `${entry.kind} "${entry.name}"`,
    path: at.name,
    needs: entry.needs,
  }));
  checkReaders(readers, problems);
}

/** The same for the pipelines of one stage. */
export function checkStageKinds(pipelines: readonly PipelineSpec[], problems: Problem[]): void {
  for (const stage of STAGES) {
    const here = pipelines.filter((pipeline) => pipeline.stage === stage);
    const readers = here.map(({ name, fields }) => ({
      who: `pipeline "${name}"`,
      path: ["dataflex", "pipelines", name],
      needs: fields,
    }));
    checkReaders(readers, problems);
  }
}

function checkReaders(readers: readonly Reader[], problems: Problem[]): void {
  const seen: { need: FieldNeed; who: string }[] = [];
  for (const { who, path, needs } of readers) {
    for (const need of needs) {
      const other = seen.find((one) => one.need.name === need.name && kindConflict(one.need, need));
      if (other !== undefined) {
        const [a, b] = [kindOf(other.need), kindOf(need)].map((kind) => KIND_TEXT[kind]);
        const message = `${who} reads "${need.name}" as ${b}, ${other.who} as ${a}: a trainer puts it in one form`;
        problems.push({ path, message });
      }
      seen.push({ need, who });
    }
  }
}

const KIND_TEXT = {
  tokens: "one number a token",
  row: "one number a row",
  strings: "one string a row",
  features: "a vector of numbers a row",
  numbers: "numbers",
} as const;
