import type { Problem } from "../../protocol/mount-messages.js";
import { MECHANISMS } from "../../protocol/pipeline-spec.js";
import { shownValue } from "../../redact.js";
import { ACTUATOR_KIND } from "../../scoring/components/component-types.js";
import { nearest } from "../../suggest.js";
import { isRecord, propertiesOf } from "../config/describe.js";
import { PIPELINE_SCHEMA, type PipelineOptions, pipelineOptions } from "../config/options.js";
import type { Path } from "../config/schema-check.js";
import type { Catalogue } from "./catalogue-entry.js";
import { kindsOf } from "./lookup.js";

/** One pipeline as the configuration has it. */
export interface Block {
  readonly name: string;
  readonly path: Path;
  readonly options: PipelineOptions;
}

/**
 * A block with a wrong option still has components: it is resolved with the default in place of the wrong option, so that the
 * problems of its components are part of the same answer. Its `problems` already refuse the mount; nothing is run from it.
 */
export function salvage(
  name: string,
  path: Path,
  block: Record<string, unknown>,
  problems: readonly Problem[],
  catalogues: readonly Catalogue[],
): Block[] {
  const bad = new Set(problems.map((problem) => String(problem.path[path.length])));
  const sound = Object.keys(propertiesOf(PIPELINE_SCHEMA)).filter((key) => !bad.has(key));
  const draft = pick(block, sound);
  for (const role of ["scorer", "actuator"]) {
    if (!bad.has(role)) continue;
    const value = Object.hasOwn(block, role) ? block[role] : undefined;
    if (!isRecord(value) || typeof value.name !== "string") return [];
    draft[role] = pick(value, ["name", "params"]);
  }
  if (bad.has("mechanism")) draft.mechanism = likelyMechanism(block, draft.actuator, catalogues);
  const options = pipelineOptions.safeParse(draft);
  return options.success ? [{ name, path, options: options.data }] : [];
}

/** Own members only: a key such as `__proto__` or `constructor` must not fetch anything inherited. */
export function pick(from: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.filter((name) => Object.hasOwn(from, name)).map((name) => [name, from[name]]));
}

function likelyMechanism(block: Record<string, unknown>, actuator: unknown, catalogues: readonly Catalogue[]) {
  const near = typeof block.mechanism === "string" ? nearest(block.mechanism, MECHANISMS)[0] : undefined;
  if (near !== undefined || !isRecord(actuator)) return near;
  const kinds = kindsOf(catalogues, shownValue(actuator.name));
  return MECHANISMS.find((mechanism) => kinds.includes(ACTUATOR_KIND[mechanism]));
}
