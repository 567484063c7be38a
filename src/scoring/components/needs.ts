import { type FieldKind, kindOf } from "../../columns/field-kinds.js";
import { isStringField } from "../../columns/field-names.js";
import type { Scope } from "../../columns/tensor.js";
import { defined } from "../../defined.js";
import type { FieldNeed } from "../../protocol/pipeline-spec.js";
import type { NamedNeed } from "./component-types.js";

/** Columns of numbers, one a row: like columns of strings they have no scope. */
const ROW_FIELDS: readonly string[] = ["difficulty", "policy_version"];

/**
 * Fields whose tokens count even where `response_mask` is 0. Rewards: trainers put the outcome on the last response token
 * whatever its mask. The mask itself: its zeros carry information.
 */
const RESPONSE_SCOPED: readonly string[] = ["rm_scores", "token_level_scores", "token_level_rewards", "response_mask"];

/** The scope of a field that is named without one; `undefined` for columns with one entry per row. */
export function usualScope(name: string): Scope | undefined {
  if (isStringField(name) || ROW_FIELDS.includes(name) || name === "features") return undefined;
  return RESPONSE_SCOPED.includes(name) ? "response" : "mask";
}

/** A declared requirement with its scope filled in. */
export function fieldNeed(requirement: string | FieldNeed): FieldNeed {
  const need = typeof requirement === "string" ? { name: requirement } : requirement;
  const { name, kind } = need;
  if (kind === "row" || kind === "strings" || kind === "features") {
    return kindOf({ name }) === kind ? { name } : { name, kind };
  }
  const scope = need.scope ?? usualScope(name) ?? (kind === undefined ? undefined : "mask");
  return { name, ...defined({ scope, kind: kind === "numbers" ? kind : undefined }) };
}

/**
 * Union of requirements. A field needed in both scopes is needed in the wider one, `response`; one that somebody reads in any form is needed
 * in the form that another reads. Order of first mention. Of kinds that exclude each other (`kindConflict`) the first stays.
 */
export function unionNeeds(...lists: readonly (readonly FieldNeed[])[]): FieldNeed[] {
  const union = new Map<string, FieldNeed>();
  for (const need of lists.flat()) {
    const seen = union.get(need.name);
    union.set(need.name, seen === undefined ? need : both(seen, need));
  }
  return [...union.values()];
}

function both(a: FieldNeed, b: FieldNeed): FieldNeed {
  const strict = kindOf(a) === "numbers" ? b : a;
  if (strict.scope === undefined) return strict;
  const scope = a.scope === "response" || b.scope === "response" ? "response" : strict.scope;
  return scope === strict.scope ? strict : { ...strict, scope };
}

/** Two kinds in which one field cannot be put at once. */
export function kindConflict(a: FieldNeed, b: FieldNeed): boolean {
  const [one, other] = [kindOf(a), kindOf(b)];
  if (one === other) return false;
  const numbers = (kind: FieldKind) => kind === "row" || kind === "tokens" || kind === "numbers";
  return !(numbers(one) && numbers(other) && (one === "numbers" || other === "numbers"));
}

/** Fields that a component reads because a parameter names them. */
export function namedNeeds(
  named: readonly NamedNeed[] | undefined,
  params: Readonly<Record<string, unknown>>,
): FieldNeed[] {
  return (named ?? []).flatMap(({ param, kind }) => {
    const name = params[param];
    return typeof name === "string" ? [fieldNeed({ name, kind })] : [];
  });
}
