import { isStringField } from "../../columns/field-names.js";
import type { Problem } from "../../protocol/mount-messages.js";
import type { FieldNeed, PipelineSpec } from "../../protocol/pipeline-spec.js";
import { STAGES, type Stage } from "../../protocol/stages.js";
import { fieldNeed, unionNeeds } from "../../scoring/components/needs.js";
import { didYouMean, listNames } from "../../suggest.js";
import type { CatalogueEntry } from "./catalogue-entry.js";

/** What verl's trainers can read at each stage; later stages have the earlier ones' too. */
const VERL_FIELDS: Readonly<Record<Stage, readonly string[]>> = {
  pre_rollout: ["uid", "domain", "data_source", "prompts"],
  post_reward: [
    "session",
    "responses",
    "input_ids",
    "position_ids",
    "attention_mask",
    "response_mask",
    "loss_mask",
    "rm_scores",
    "token_level_scores",
    "rollout_log_probs",
    "policy_version",
  ],
  post_advantage: [
    "old_log_probs",
    "entropy",
    "ref_log_prob",
    "values",
    "token_level_rewards",
    "advantages",
    "returns",
    "rollout_is_weights",
  ],
};

/**
 * Exactly what the trainer sends for a pipeline: what its components read; `uid` for group components (`session` and
 * `session_index` ride along with it); the mask whenever any token matrix is read, or the loss is weighed.
 *
 * @param weighs the weights go into the loss: without the mask it would be unknown which tokens they are for
 */
export function pipelineFields(entries: readonly CatalogueEntry[], weighs: boolean): FieldNeed[] {
  const added = entries.some((entry) => entry.needs_groups) ? [fieldNeed("uid")] : [];
  const union = unionNeeds(...entries.map((entry) => entry.needs), added);
  if (weighs || union.some((need) => need.scope !== undefined))
    return sorted(unionNeeds(union, [fieldNeed("response_mask")]));
  return sorted(union);
}

/** Per stage, the union over all pipelines. */
export function stageFields(pipelines: readonly PipelineSpec[]): Partial<Record<Stage, FieldNeed[]>> {
  const stages: Partial<Record<Stage, FieldNeed[]>> = {};
  for (const stage of STAGES) {
    const here = pipelines.filter((pipeline) => pipeline.stage === stage);
    if (here.length > 0) stages[stage] = sorted(unionNeeds(...here.map((pipeline) => pipeline.fields)));
  }
  return stages;
}

/** A field that is needed but that the trainer does not have. */
export function missingField(
  field: string,
  needer: string,
  path: Problem["path"],
  provides: readonly string[],
): Problem {
  const near = didYouMean(field, provides);
  const ask = isStringField(field)
    ? `have the trainer provide the column "${field}"`
    : `have the trainer provide "${field}"`;
  return {
    path,
    message: `${needer} needs the field "${field}", which the trainer does not have; it provides: ${listNames([...provides], "and so on")}`,
    suggestion: near === undefined ? ask : `${near}   otherwise ${ask}`,
  };
}

/** The first stage at which verl has a field. */
export function stageOfField(field: string): Stage | undefined {
  return STAGES.find((stage) => VERL_FIELDS[stage].includes(field));
}

/** Doubts about a field if the trainer has not listed its fields: it is unknown to verl, or not there yet at that stage. */
export function fieldDoubt(field: string, stage: Stage): string | undefined {
  const since = stageOfField(field);
  if (since === undefined) return `verl has no field "${field}": the trainer must provide it itself`;
  if (STAGES.indexOf(since) > STAGES.indexOf(stage))
    return `verl has "${field}" only from ${since} on, it is read at ${stage}`;
  return undefined;
}

/** The mask first (everything else is laid out by it), then by name: the same for every order of components. */
function sorted(needs: readonly FieldNeed[]): FieldNeed[] {
  const key = (need: FieldNeed) => (need.name === "response_mask" ? "" : need.name);
  return [...needs].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}
