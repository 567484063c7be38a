import { z } from "zod";
import { defined } from "../../defined.js";
import type { FieldNeed } from "../../protocol/pipeline-spec.js";
import type { Stage } from "../../protocol/stages.js";
import type {
  Accepts,
  Component,
  ComponentDoc,
  Kind,
  NamedNeed,
  Positive,
  Rows,
  Rule,
} from "../../scoring/components/component-types.js";
import type { JsonSchema } from "../config/describe.js";
import { defaultsOf } from "../config/schema-check.js";
import { canonicalJson, shortHash } from "./fingerprint.js";

/**
 * A component as plain data: what a worker registers, what broker and `check` validate against, what `components` prints.
 * Nothing here can run.
 */
export interface CatalogueEntry {
  readonly kind: Kind;
  readonly name: string;
  /** Identity: a hash of kind, name and source. Two entries of one name with another id are two components. */
  readonly id: string;
  /** JSON Schema of the parameters, strict. */
  readonly params: JsonSchema;
  readonly defaults: Readonly<Record<string, unknown>>;
  /** Fields it reads, with their scopes. */
  readonly needs: readonly FieldNeed[];
  /** Scorers: fields whose names are parameters, and the parameter that names the stage. */
  readonly named_needs?: readonly NamedNeed[];
  readonly timing_param?: string;
  /** Scorers always; actuators only when they read something later than their scorer. */
  readonly timing?: Stage;
  /** Scorers: whether they give a score per row or per token. */
  readonly granularity?: Accepts;
  /** Reweighters and selectors: the shape of scores they take; absent if they take either. */
  readonly accepts?: Accepts;
  /** Reweighters that normalise their weights themselves. */
  readonly self_normalized?: true;
  /** Token reweighters: the condition under which none of their weights is 0. */
  readonly positive?: Positive;
  /** Mixers: whether they need a scorer, and the one they get if none is named. */
  readonly scorer?: "required" | "none";
  readonly default_scorer?: string;
  /** Policies: fields of the responses that feed them, read at post_reward. */
  readonly feed_needs?: readonly FieldNeed[];
  /** Selectors that remember earlier steps. */
  readonly remembers?: true;
  readonly needs_groups: boolean;
  /** Which rows it must see together. */
  readonly rows: Rows;
  readonly rules: readonly Rule[];
  readonly doc: ComponentDoc;
}

/** The components that one set of workers can run. Its fingerprint names their queues. */
export interface Catalogue {
  readonly fingerprint: string;
  readonly entries: readonly CatalogueEntry[];
}

/**
 * A component as data.
 *
 * @param source text that identifies the implementation, such as the plugin file it came from. Without one the identity is the
 *   declaration itself, formula and edge rules included: function text differs between compilers and must not split a fleet.
 */
export function toEntry(component: Component, source?: string): CatalogueEntry {
  const { $schema: _, ...params } = z.toJSONSchema(component.params, { io: "input", unrepresentable: "any" });
  const declared = {
    kind: component.kind,
    name: component.name,
    params: params as JsonSchema,
    needs: component.needs,
    ...("requires_named" in component && component.requires_named ? { named_needs: component.requires_named } : {}),
    ...("timing_param" in component && component.timing_param ? { timing_param: component.timing_param } : {}),
    ...timingOf(component),
    ...("granularity" in component ? { granularity: component.granularity } : {}),
    ...("accepts" in component && component.adapts !== true ? { accepts: component.accepts } : {}),
    ...("self_normalized" in component && component.self_normalized ? { self_normalized: true as const } : {}),
    ...("positive" in component && component.positive !== undefined ? { positive: component.positive } : {}),
    ...("scorer" in component ? { scorer: component.scorer } : {}),
    ...("default_scorer" in component && component.default_scorer !== undefined
      ? { default_scorer: component.default_scorer }
      : {}),
    ...("remember" in component && component.remember !== undefined ? { remembers: true as const } : {}),
    ...("feed_needs" in component ? { feed_needs: component.feed_needs } : {}),
    needs_groups: component.needs_groups ?? false,
    rows: component.rows,
    rules: component.rules ?? [],
  };
  const doc = component.doc ?? {};
  const identity = source ?? { ...declared, formula: doc.formula, edges: doc.edges };
  const id = shortHash(canonicalJson({ kind: component.kind, name: component.name, identity }), 16);
  return { ...declared, id, defaults: defaultsOf(declared.params), doc };
}

function timingOf(component: Component): { timing?: Stage } {
  if (component.kind === "policy") return { timing: "pre_rollout" };
  return defined({ timing: component.timing });
}

export interface CatalogueOptions {
  /** `builtin` or `plugin`: what the fingerprint begins with. */
  readonly prefix?: string;
  /** The source text a component came from; undefined for built-ins. */
  readonly sourceOf?: (component: Component) => string | undefined;
}

/**
 * The catalogue of a set of components: `<prefix>-<12 hex digits>`, the same in every process and for every order of the set.
 * Holds no `:` (queue names forbid it).
 */
export function catalogueOf(components: readonly Component[], options: CatalogueOptions = {}): Catalogue {
  const entries = components.map((component) => toEntry(component, options.sourceOf?.(component)));
  const ids = entries.map((entry) => entry.id).sort();
  return { fingerprint: `${options.prefix ?? "builtin"}-${shortHash(canonicalJson(ids))}`, entries };
}
