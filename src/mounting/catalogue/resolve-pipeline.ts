import { defined } from "../../defined.js";
import type { Problem } from "../../protocol/mount-messages.js";
import type { PipelineSpec } from "../../protocol/pipeline-spec.js";
import { laterStage, STAGES, type Stage } from "../../protocol/stages.js";
import { didYouMean } from "../../suggest.js";
import type { PipelineOptions } from "../config/options.js";
import { checkMapping } from "../config/schema-check.js";
import type { Catalogue, CatalogueEntry } from "./catalogue-entry.js";
import { chooseComponents } from "./choose.js";
import { groupProblem } from "./group-rules.js";
import { checkMix, mixSpec, withDomainKey } from "./mix-rules.js";
import { checkKinds, withNamedFields } from "./named-fields.js";
import { type Diagnostics, resolveNormalize } from "./normalize-rules.js";
import { feedEntry, feedName, feedSpec } from "./policy-feed.js";
import { type MountInput, type Place, placeOf } from "./resolution.js";
import { brokenRule } from "./rules.js";
import type { RuledPart } from "./trainer-rules.js";
import { fieldDoubt, missingField, pipelineFields, stageOfField } from "./wanted-fields.js";

export interface PipelineInput {
  readonly name: string;
  readonly path: Problem["path"];
  readonly options: PipelineOptions;
  readonly mount: MountInput;
  readonly catalogues: readonly Catalogue[];
}

/** One pipeline, resolved (with the one that feeds it, if it is a policy's); every problem is pushed, and without any there are `specs`. */
export function resolvePipeline(
  input: PipelineInput,
  diagnostics: Diagnostics,
): { specs: readonly PipelineSpec[]; needsGroups: boolean; parts: readonly RuledPart[] } {
  const { options, path, mount, catalogues } = input;
  const { problems, warnings } = diagnostics;
  const before = problems.length;
  const chosen = chooseComponents(options, path, catalogues, problems);
  const scorer = chosen.scorer && { entry: chosen.scorer, at: placeOf(path, "scorer"), given: options.scorer?.params };
  const actuator = chosen.actuator && {
    entry: withDomainKey(chosen.actuator, options),
    at: placeOf(path, "actuator"),
    given: options.actuator.params,
  };
  const declared = [scorer, actuator].filter((part) => part !== undefined);
  const params = declared.map(({ entry, at, given }) => checkParams(entry, given, at, options, problems));
  const parts = declared.map((part, i) => ({
    ...part,
    entry: withNamedFields(part.entry, params[i], part.at, problems),
  }));
  for (const { entry, at } of parts) {
    const problem = groupProblem(entry, at, mount) ?? timingProblem(entry, at);
    if (problem !== undefined) problems.push(problem);
  }
  const granularity = joinShapes(chosen.scorer, chosen.actuator, path, catalogues, problems);
  const normalize = resolveNormalize(options, granularity, chosen.actuator, path, mount.trainer, diagnostics);
  checkMix(options, chosen, path, problems, warnings);
  if (options.mechanism !== "select" && options.on_empty !== "drop_all") {
    warnings.push(`${path.join(".")}: on_empty has no effect, it applies to mechanism select`);
  }
  if (options.mechanism !== "select" && options.keep_when_short !== null) {
    warnings.push(`${path.join(".")}: keep_when_short has no effect, it applies to mechanism select`);
  }
  const entries = parts.map((part) => part.entry);
  const stage = entries.map(stageOf).reduce<Stage>(laterStage, "pre_rollout");
  const needsGroups = entries.some((entry) => entry.needs_groups);
  // A policy compares groups where it is fed; its candidates are single prompts.
  const weighsTokens = options.mechanism !== "mix" && stage !== "pre_rollout";
  const fields = pipelineFields(
    entries.map((entry) => (entry.kind === "policy" ? { ...entry, needs_groups: false } : entry)),
    weighsTokens,
  );
  const fieldNames = fields.map((f) => f.name);
  checkFields(input, parts, fieldNames, stage, problems, warnings);
  checkKinds(parts, problems);
  const feed = chosen.actuator && actuator && feedEntry(chosen.actuator);
  const feedFields = feed && pipelineFields([feed], false);
  if (feed && feedFields) {
    const names = feedFields.map((f) => f.name).filter((name) => !fieldNames.includes(name));
    checkFields(input, [{ entry: feed, at: actuator.at }], names, "post_reward", problems, warnings);
  }

  const weighs = options.mechanism !== "mix" && !options.shadow && chosen.actuator?.kind !== "policy";
  const ruled = parts.map(({ entry, at }, i) => ({
    entry,
    params: params[i] ?? entry.defaults,
    path: at.name,
    weighs,
  }));
  const actuatorParams = params.at(-1);
  if (
    problems.length > before ||
    chosen.actuator === undefined ||
    chosen.fingerprint === undefined ||
    !actuatorParams
  ) {
    return { specs: [], needsGroups, parts: ruled };
  }
  const spec: PipelineSpec = {
    name: input.name,
    mechanism: options.mechanism,
    stage,
    ...(chosen.scorer && params[0] ? { scorer: { name: chosen.scorer.name, params: params[0] } } : {}),
    actuator: { name: chosen.actuator.name, params: actuatorParams },
    fields,
    fingerprint: chosen.fingerprint,
    granularity,
    normalize,
    on_nonfinite: options.on_nonfinite,
    on_empty: options.on_empty,
    on_incomplete_group: options.on_incomplete_group,
    ...defined({ group_size: mount.group_size, keep_when_short: options.keep_when_short ?? undefined }),
    warmup_step: options.warmup_step,
    update_step: options.update_step,
    window: options.window,
    ...mixSpec(options),
    ...(feed === undefined ? {} : { policy: { role: "select", fed_by: feedName(input.name) } as const }),
    ...(chosen.actuator.remembers ? { remembers: true as const } : {}),
    shadow: options.shadow,
  };
  return { specs: feedFields === undefined ? [spec] : [spec, feedSpec(spec, feedFields)], needsGroups, parts: ruled };
}

function checkParams(
  entry: CatalogueEntry,
  given: unknown,
  at: Place,
  options: PipelineOptions,
  problems: Problem[],
): Record<string, unknown> | undefined {
  const checked = checkMapping(entry.params, given, at.params, { owner: entry.name, noun: "parameter" });
  if (!checked.ok) {
    problems.push(...checked.problems);
    return undefined;
  }
  for (const rule of entry.rules) {
    const broken = brokenRule(rule, checked.value, options.domains?.length);
    if (broken !== undefined) problems.push({ path: at.params, message: `${entry.name}: ${broken}` });
  }
  return checked.value;
}

function stageOf(entry: CatalogueEntry): Stage {
  // Without a scorer, a mixer's domain column rides along with the rewards.
  if (entry.kind === "mixer" && entry.timing === undefined) return "post_reward";
  return entry.timing !== undefined && STAGES.includes(entry.timing) ? entry.timing : "pre_rollout";
}

/** A catalogue comes from another process: its timing may be anything, and `in_loss` deserves an explanation. */
function timingProblem(entry: CatalogueEntry, at: Place): Problem | undefined {
  const timing: string | undefined = entry.timing;
  if (timing === undefined || (STAGES as readonly string[]).includes(timing)) return undefined;
  const who = `${entry.kind} "${entry.name}"`;
  if (timing === "in_loss") {
    const message = `${who} wants timing in_loss: a weight inside the loss needs the current policy's log-probs, which exist only in the trainer`;
    return { path: at.name, message, suggestion: "use post_advantage with old_log_probs" };
  }
  const near = didYouMean(timing, STAGES);
  return {
    path: at.name,
    message: `${who} has the unknown timing "${timing}"`,
    suggestion: near ?? `stages: ${STAGES.join(", ")}`,
  };
}

function joinShapes(
  scorer: CatalogueEntry | undefined,
  actuator: CatalogueEntry | undefined,
  path: Problem["path"],
  catalogues: readonly Catalogue[],
  problems: Problem[],
): "row" | "token" | "domain" {
  if (actuator?.kind === "mixer") {
    if (scorer?.granularity === "token") {
      const message = `scorer "${scorer.name}" gives one score per token, a mixer takes one score per row`;
      problems.push({ path: placeOf(path, "scorer").name, message, suggestion: fitting("scorer", "row", catalogues) });
    }
    return "domain";
  }
  const gives = scorer?.granularity ?? "row";
  const takes = actuator?.accepts ?? gives;
  if (scorer === undefined || actuator === undefined) return takes;
  if (gives !== takes) {
    problems.push({
      path: placeOf(path, "actuator").name,
      message: `scorer "${scorer.name}" gives one score per ${gives}, but ${actuator.kind} "${actuator.name}" takes one per ${takes}`,
      suggestion: `${fitting(actuator.kind, gives, catalogues)}; ${fitting("scorer", takes, catalogues)}`,
    });
  }
  return takes;
}

function fitting(kind: CatalogueEntry["kind"], shape: string, catalogues: readonly Catalogue[]): string {
  const fits = (entry: CatalogueEntry) => (kind === "scorer" ? entry.granularity === shape : entry.accepts === shape);
  const names = catalogues.flatMap((c) => c.entries.filter((e) => e.kind === kind && fits(e)).map((e) => e.name));
  return `${kind}s by ${shape}: ${[...new Set(names)].sort().join(", ") || "none"}`;
}

function checkFields(
  input: PipelineInput,
  parts: readonly { entry: CatalogueEntry; at: Place }[],
  fields: readonly string[],
  stage: Stage,
  problems: Problem[],
  warnings: string[],
): void {
  const { provides } = input.mount;
  for (const field of fields) {
    if (provides?.includes(field)) continue;
    // What the framework adds (mask, uid) is needed by whatever reads a token matrix or groups: the first part.
    const needer = parts.find((part) => part.entry.needs.some((need) => need.name === field)) ?? parts[0];
    if (needer === undefined) continue;
    const who = `${needer.entry.kind} "${needer.entry.name}"`;
    if (provides !== undefined && !(provides.includes("*") && stageOfField(field) === undefined)) {
      problems.push(missingField(field, who, needer.at.name, provides));
      continue;
    }
    const doubt = fieldDoubt(field, stage);
    if (doubt !== undefined) warnings.push(`${who}: ${doubt}`);
  }
}
