import { isStringField } from "../../columns/field-names.js";
import type { Scope } from "../../columns/tensor.js";
import type { FieldNeed } from "../../protocol/pipeline-spec.js";

/** Columns of numbers, one a row: like columns of strings they have no scope. */
const ROW_FIELDS: readonly string[] = ["difficulty", "policy_version"];

/**
 * Fields whose tokens count even where `response_mask` is 0. Rewards: trainers put the outcome on the last response token
 * whatever its mask. The mask itself: its zeros carry information.
 */
const RESPONSE_SCOPED: readonly string[] = ["rm_scores", "token_level_scores", "token_level_rewards", "response_mask"];

/** The scope of a field that is named without one; `undefined` for columns with one entry per row. */
export function usualScope(name: string): Scope | undefined {
  if (isStringField(name) || ROW_FIELDS.includes(name)) return undefined;
  return RESPONSE_SCOPED.includes(name) ? "response" : "mask";
}

/** A declared requirement with its scope filled in. */
export function fieldNeed(requirement: string | FieldNeed): FieldNeed {
  const need = typeof requirement === "string" ? { name: requirement } : requirement;
  const scope = need.scope ?? usualScope(need.name);
  return scope === undefined ? { name: need.name } : { name: need.name, scope };
}

/** Union of requirements. A field needed in both scopes is needed in the wider one, `response`. Order of first mention. */
export function unionNeeds(...lists: readonly (readonly FieldNeed[])[]): FieldNeed[] {
  const union = new Map<string, FieldNeed>();
  for (const need of lists.flat()) {
    const seen = union.get(need.name);
    if (seen === undefined || (seen.scope === "mask" && need.scope === "response")) union.set(need.name, need);
  }
  return [...union.values()];
}
