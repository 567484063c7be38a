import { z } from "zod";
import { DataflexError } from "../../errors.js";
import type { FieldNeed } from "../../protocol/pipeline-spec.js";
import type {
  Accepts,
  Kind,
  Mixer,
  MixerDefinition,
  Policy,
  PolicyDefinition,
  Reweighter,
  ReweighterDefinition,
  Rows,
  Scorer,
  ScorerDefinition,
  Selector,
  SelectorDefinition,
} from "./component-types.js";
import { fieldNeed, unionNeeds } from "./needs.js";

/** Names appear in configurations, metric labels and queue data: one alphabet for all. `file:` is put before a name that a built-in has. */
const NAME = /^([a-z][a-z0-9_]{0,63}:)?[a-z][a-z0-9_]{0,63}$/;

/**
 * A scorer: turns fields of the batch into one score per row or per token. Pure: the same batch and context give the same scores.
 * @throws DataflexError COMPONENT when the definition itself is wrong (name, params schema, empty requirement).
 */
export function defineScorer<const S extends z.ZodType>(definition: ScorerDefinition<S>): Scorer<S> {
  const granularity = definition.granularity === "token" ? "token" : "row";
  return Object.freeze({ ...definition, ...complete("scorer", definition), granularity });
}

/** A reweighter: turns scores into raw weights ≥ 0; the framework normalises them. @throws as `defineScorer`. */
export function defineReweighter<const S extends z.ZodType, const A extends Accepts>(
  definition: ReweighterDefinition<S, A>,
): Reweighter<S, A> {
  return Object.freeze({ ...definition, ...complete("reweighter", definition) });
}

/** A selector: turns scores into the rows (or tokens) to keep. @throws as `defineScorer`. */
export function defineSelector<const S extends z.ZodType, const A extends Accepts>(
  definition: SelectorDefinition<S, A>,
): Selector<S, A> {
  return Object.freeze({ ...definition, ...complete("selector", definition) });
}

/** A mixer: turns the history of the domains' scores into proportions. @throws as `defineScorer`. */
export function defineMixer<const S extends z.ZodType>(definition: MixerDefinition<S>): Mixer<S> {
  return Object.freeze({ ...definition, ...complete("mixer", definition) });
}

/** A pre-rollout policy: chooses prompts by how they did in earlier steps. @throws as `defineScorer`. */
export function definePolicy<const S extends z.ZodType>(definition: PolicyDefinition<S>): Policy<S> {
  const key = fieldNeed("dataset_key");
  const own = complete("policy", { ...definition, requires: [] });
  if (definition.needs_groups && !definition.feed_requires?.includes("uid")) throw needsUid("policy", definition.name);
  const needs = unionNeeds([key], (definition.requires ?? []).map(fieldNeed));
  const feed_needs = unionNeeds([key], (definition.feed_requires ?? []).map(fieldNeed));
  return Object.freeze({ ...definition, ...own, needs, feed_needs });
}

interface Common {
  readonly name: string;
  readonly requires?: readonly (string | FieldNeed)[];
  readonly needs_groups?: boolean;
  readonly rows?: Rows;
  readonly params: z.ZodType;
}

function complete<K extends Kind>(kind: K, definition: Common) {
  const { name, params } = definition;
  if (!NAME.test(name)) {
    throw new DataflexError("COMPONENT", `${kind} name '${name}' must match ${NAME.source}: rename it`, { kind, name });
  }
  if (!isStrictObject(params)) {
    throw new DataflexError(
      "COMPONENT",
      `${kind} '${name}': params must be a z.strictObject({...}), otherwise a misspelt parameter would pass unseen`,
      { kind, name },
    );
  }
  const needs = (definition.requires ?? []).map(fieldNeed);
  const needs_groups = definition.needs_groups ?? false;
  // A policy's groups are those of the responses that feed it.
  if (needs_groups && kind !== "policy" && !needs.some((need) => need.name === "uid")) throw needsUid(kind, name);
  return { kind, needs, needs_groups, rows: definition.rows ?? "batch" } as const;
}

function needsUid(kind: Kind, name: string): DataflexError {
  const message = `${kind} '${name}' needs groups but does not require 'uid': add it`;
  return new DataflexError("COMPONENT", message, { kind, name });
}

function isStrictObject(schema: z.ZodType): boolean {
  if (!(schema instanceof z.ZodObject)) return false;
  return schema.def.catchall instanceof z.ZodNever;
}
