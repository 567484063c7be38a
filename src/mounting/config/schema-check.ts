import { z } from "zod";
import { defined } from "../../defined.js";
import type { Problem } from "../../protocol/mount-messages.js";
import { didYouMean } from "../../suggest.js";
import {
  describe,
  describeProperties,
  describeProperty,
  isRecord,
  type JsonSchema,
  propertiesOf,
  show,
} from "./describe.js";
import { MOST_PROBLEMS } from "./problems.js";

export type Path = Problem["path"];

/** How messages refer to a checked mapping: `softmax has no parameter …`, `a pipeline has no option …`. */
export interface Subject {
  readonly owner: string;
  readonly noun: "parameter" | "option";
  /** A better answer for a known stray key ("clip belongs to the run: move it to dataflex.clip"). */
  readonly elsewhere?: (key: string) => string | undefined;
}

export type Checked =
  | { readonly ok: true; readonly value: Record<string, unknown> }
  | { readonly ok: false; readonly problems: readonly Problem[] };

const compiled = new WeakMap<JsonSchema, z.ZodType | undefined>();

/**
 * Checks a mapping against a strict JSON Schema and fills in its defaults. `null` and a missing value are an empty mapping.
 * Every problem is returned, each with its path below `at`. A schema outside the subset that zod can read (a user's own
 * component may carry one) is not checked here: the component's own schema judges the parameters where it runs.
 */
export function checkMapping(schema: JsonSchema, value: unknown, at: Path, subject: Subject): Checked {
  const given = value ?? {};
  if (!isRecord(given)) {
    const message = `${subject.owner}: expected a mapping of ${subject.noun}s, got ${show(value)}`;
    return { ok: false, problems: [{ path: at, message }] };
  }
  const reader = compile(schema);
  if (reader === undefined) return { ok: true, value: { ...defaultsOf(schema), ...given } };
  const result = reader.safeParse(given);
  if (result.success) return { ok: true, value: result.data as Record<string, unknown> };
  const problems: Problem[] = [];
  const seen = new Set<string>();
  for (const issue of result.error.issues) {
    if (problems.length > MOST_PROBLEMS) break;
    for (const problem of translate(issue, schema, given, at, subject)) {
      const key = JSON.stringify(problem.path);
      if (seen.has(key)) continue;
      seen.add(key);
      problems.push(problem);
    }
  }
  return { ok: false, problems };
}

/** The `default` of every property that has one. */
export function defaultsOf(schema: JsonSchema): Record<string, unknown> {
  const entries = Object.entries(propertiesOf(schema)).filter(([, property]) => "default" in property);
  return Object.fromEntries(entries.map(([name, property]) => [name, property.default]));
}

function compile(schema: JsonSchema): z.ZodType | undefined {
  if (!compiled.has(schema)) {
    let reader: z.ZodType | undefined;
    try {
      reader = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
    } catch {
      reader = undefined;
    }
    compiled.set(schema, reader);
  }
  return compiled.get(schema);
}

function translate(issue: z.core.$ZodIssue, schema: JsonSchema, given: unknown, at: Path, subject: Subject): Problem[] {
  const path = issue.path.map((part) => (typeof part === "symbol" ? String(part) : part));
  // zod reports unknown keys on the enclosing mapping, with the names beside it.
  if (issue.code === "unrecognized_keys") {
    const inner = branchesOf(schemaAt(schema, path) ?? {}).find((branch) => "properties" in branch) ?? {};
    const who = path.length === 0 ? subject.owner : `${subject.owner}: ${path.join(".")}`;
    return issue.keys
      .slice(0, MOST_PROBLEMS + 1)
      .map((key) => unknownKey(key, inner, [...at, ...path], { ...subject, owner: who }));
  }
  // A mapping that may also be null is a union to zod: look inside the one branch whose type fits.
  if (issue.code === "invalid_union") {
    const deeper = issue.errors.filter((errors) =>
      errors.every((e) => e.path.length > 0 || e.code === "unrecognized_keys"),
    );
    const only = deeper.length === 1 ? deeper[0] : undefined;
    if (only !== undefined && only.length > 0) {
      return only.flatMap((e) => translate({ ...e, path: [...issue.path, ...e.path] }, schema, given, at, subject));
    }
  }
  const property = schemaAt(schema, path);
  const name = path.join(".");
  const value = valueAt(given, path);
  const expected = property === undefined ? issue.message : describe(property);
  if (value === undefined) {
    const message = `${subject.owner} needs the ${subject.noun} "${name}" (${expected})`;
    return [{ path: [...at, ...path], message }];
  }
  const message = `${subject.owner}: ${name} must be ${expected}, got ${show(value)}`;
  const suggestion = hintFor(property, value);
  return [{ path: [...at, ...path], message, ...defined({ suggestion }) }];
}

function unknownKey(key: string, schema: JsonSchema, at: Path, subject: Subject): Problem {
  const path = [...at, key];
  const elsewhere = subject.elsewhere?.(key);
  if (elsewhere !== undefined) {
    return { path, message: `${subject.owner} has no ${subject.noun} "${key}"`, suggestion: elsewhere };
  }
  const names = Object.keys(propertiesOf(schema));
  if (names.length === 0) return { path, message: `${subject.owner} takes no ${subject.noun}s, got "${key}"` };
  const near = didYouMean(key, names);
  // Parameters are few: show what each allows. Options are many: their names are enough.
  const known = subject.noun === "parameter" ? describeProperties(schema) : names;
  const suggestion = `${near === undefined ? "" : `${near}   `}known: ${known.join(", ")}`;
  return { path, message: `${subject.owner} has no ${subject.noun} "${key}"`, suggestion };
}

function hintFor(property: JsonSchema | undefined, value: unknown): string | undefined {
  if (typeof value === "string" && value.includes("${")) {
    return "interpolations are not resolved here: write the value itself";
  }
  if (property === undefined) return undefined;
  if (typeof value === "string" && Array.isArray(property.enum)) {
    const near = didYouMean(value, property.enum.map(String));
    if (near !== undefined) return near;
  }
  return "default" in property ? `allowed: ${describeProperty(property)}` : undefined;
}

function schemaAt(schema: JsonSchema, path: readonly (string | number)[]): JsonSchema | undefined {
  let here: JsonSchema | undefined = schema;
  for (const part of path) {
    if (here === undefined) return undefined;
    here = branchesOf(here)
      .map((branch) => step(branch, part))
      .find((next) => next !== undefined);
  }
  return here;
}

function branchesOf(schema: JsonSchema): readonly JsonSchema[] {
  return Array.isArray(schema.anyOf) ? schema.anyOf.filter(isRecord) : [schema];
}

function step(schema: JsonSchema, part: string | number): JsonSchema | undefined {
  if (typeof part === "number") {
    const tuple = Array.isArray(schema.prefixItems) ? schema.prefixItems[part] : schema.items;
    return isRecord(tuple) ? tuple : undefined;
  }
  const properties = propertiesOf(schema);
  if (Object.hasOwn(properties, part)) return properties[part];
  return isRecord(schema.additionalProperties) ? schema.additionalProperties : undefined;
}

function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  let here = value;
  for (const part of path) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, part)) return undefined;
    here = (here as Record<string | number, unknown>)[part];
  }
  return here;
}
