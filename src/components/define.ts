import { z } from "zod";
import { DataflexError } from "../errors.js";
import type { FieldNeed } from "../protocol/messages.js";
import { fieldNeed } from "./needs.js";
import type {
  Accepts,
  Kind,
  Reweighter,
  ReweighterDefinition,
  Rows,
  Scorer,
  ScorerDefinition,
  Selector,
  SelectorDefinition,
} from "./types.js";

/** Names travel in configuration, metrics labels and queue data: one alphabet for all. */
const NAME = /^[a-z][a-z0-9_]{0,63}$/;

/**
 * A scorer: turns fields of the batch into one score a row (`prompt`, `response`) or a token (`token`). Pure: the same batch
 * and context give the same scores.
 * @throws DataflexError COMPONENT when the definition itself is wrong (name, params schema, empty requirement).
 */
export function defineScorer<const S extends z.ZodType>(definition: ScorerDefinition<S>): Scorer<S> {
  return Object.freeze({ ...definition, ...complete("scorer", definition) });
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
  if (needs_groups && !needs.some((need) => need.name === "uid")) {
    throw new DataflexError("COMPONENT", `${kind} '${name}' needs groups but does not require 'uid': add it`, {
      kind,
      name,
    });
  }
  return { kind, needs, needs_groups, rows: definition.rows ?? "batch" } as const;
}

function isStrictObject(schema: z.ZodType): boolean {
  if (!(schema instanceof z.ZodObject)) return false;
  return schema.def.catchall instanceof z.ZodNever;
}
