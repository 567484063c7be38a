import type { Problem } from "../../protocol/mount-messages.js";
import { MECHANISMS } from "../../protocol/pipeline-spec.js";
import { ACTUATOR_KIND, type Kind, kindPlural } from "../../scoring/components/component-types.js";
import { listNames } from "../../suggest.js";
import type { ComponentOption, PipelineOptions } from "../config/options.js";
import type { Catalogue, CatalogueEntry } from "./catalogue-entry.js";
import { type Found, findAll, kindsOf, namesOf, registeredHint } from "./lookup.js";
import { type Place, placeOf } from "./resolution.js";

/** The components of a pipeline and the one catalogue whose workers run both. */
export interface Chosen {
  readonly fingerprint: string | undefined;
  readonly scorer: CatalogueEntry | undefined;
  readonly actuator: CatalogueEntry | undefined;
}

/**
 * Finds a pipeline's components and routes it to one catalogue that holds both.
 *
 * Where live catalogues define a name differently (another id), the name alone is refused: `scorer: {name, fingerprint}` says
 * which one is meant, for both components of the pipeline. Entries are returned even when the routing fails, so that
 * everything else about them is still checked.
 */
export function chooseComponents(
  options: PipelineOptions,
  path: Problem["path"],
  catalogues: readonly Catalogue[],
  problems: Problem[],
): Chosen {
  // A pre-rollout policy is a selector that needs no scorer: it chooses by what it remembers.
  const policy = options.mechanism === "select" && options.scorer === null;
  const isPolicy = policy && kindsOf(catalogues, options.actuator.name).includes("policy");
  const kind = isPolicy ? "policy" : ACTUATOR_KIND[options.mechanism];
  const named = namedFingerprint(options, path, catalogues, problems);
  const within = named === undefined ? catalogues : catalogues.filter((c) => c.fingerprint === named);

  const actuators =
    options.mechanism === "mix" && namesOf(catalogues, "mixer").length === 0
      ? noMixers(path, problems)
      : find(kind, options.actuator, placeOf(path, "actuator"), within, problems);
  const wanted = wantedScorer(options, actuators?.[0]?.entry);
  const scorers = wanted && find("scorer", wanted, placeOf(path, "scorer"), within, problems);
  if (wanted === undefined && needsScorer(options, kind, actuators?.[0]?.entry)) {
    const suggestion = `add scorer: {name: …}   ${registeredHint(catalogues, "scorer", "")}`;
    const who = options.mechanism === "mix" ? `mixer "${options.actuator.name}"` : `mechanism ${options.mechanism}`;
    problems.push({ path: [...path, "scorer"], message: `${who} needs a scorer`, suggestion });
  }

  const first = { scorer: scorers?.[0]?.entry, actuator: actuators?.[0]?.entry };
  if (actuators === undefined || actuators.length === 0) return { ...first, fingerprint: undefined };
  if (wanted === undefined) return { ...first, fingerprint: actuators[0]?.fingerprint };
  if (scorers === undefined || scorers.length === 0) return { ...first, fingerprint: undefined };
  for (const scorer of scorers) {
    const actuator = actuators.find((candidate) => candidate.fingerprint === scorer.fingerprint);
    if (actuator !== undefined)
      return { fingerprint: scorer.fingerprint, scorer: scorer.entry, actuator: actuator.entry };
  }
  problems.push({
    path,
    message:
      `no worker can run both: scorer "${wanted.name}" is in ${listed(scorers)}, ` +
      `${kind} "${options.actuator.name}" in ${listed(actuators)}`,
    suggestion: "start a worker that loads both plugins",
  });
  return { ...first, fingerprint: undefined };
}

/** The scorer to mount: the one that is named, else the mixer's default. */
function wantedScorer(options: PipelineOptions, actuator: CatalogueEntry | undefined): ComponentOption | undefined {
  if (options.scorer !== null) return options.scorer;
  if (actuator?.scorer !== "required" || actuator.default_scorer === undefined) return undefined;
  return { name: actuator.default_scorer, fingerprint: null };
}

function needsScorer(options: PipelineOptions, kind: Kind, actuator: CatalogueEntry | undefined): boolean {
  if (options.mechanism === "mix") return actuator?.scorer === "required";
  return kind !== "policy";
}

function find(
  kind: Kind,
  option: ComponentOption,
  place: Place,
  catalogues: readonly Catalogue[],
  problems: Problem[],
): Found[] {
  const found = findAll(catalogues, kind, option.name);
  if (found.length === 0) {
    problems.push(unknownComponent(kind, option.name, place, catalogues));
    return [];
  }
  if (new Set(found.map((f) => f.entry.id)).size > 1) {
    problems.push({
      path: place.name,
      message: `${kind} "${option.name}" is defined differently by ${found.map((f) => f.fingerprint).join(" and ")}`,
      suggestion: `say which one: {name: ${option.name}, fingerprint: ${found[0]?.fingerprint}}`,
    });
  }
  return found;
}

/** Workers, `all`, `check` and `replay` have the flag. */
const OWN_HINT = "one of your own comes with --plugin FILE";

function unknownComponent(kind: Kind, name: string, place: Place, catalogues: readonly Catalogue[]): Problem {
  if (catalogues.every((catalogue) => catalogue.entries.length === 0)) {
    return {
      path: place.name,
      message: `unknown ${kind} "${name}": no worker has registered any component`,
      suggestion: "start one: dataflex-mq worker",
    };
  }
  const other = kindsOf(catalogues, name)[0];
  const names = listNames(namesOf(catalogues, kind));
  if (other === undefined) {
    return {
      path: place.name,
      message: `unknown ${kind} "${name}"`,
      suggestion: `${registeredHint(catalogues, kind, name)}   ${OWN_HINT}`,
    };
  }
  const message = `"${name}" is a ${other}, not a ${kind}`;
  if (other === "policy") {
    const suggestion = "a pre-rollout policy takes mechanism: select and no scorer: remove it";
    return { path: place.name, message, suggestion };
  }
  const mechanism = MECHANISMS.find((m) => ACTUATOR_KIND[m] === other);
  if (kind === "scorer" || mechanism === undefined)
    return { path: place.name, message, suggestion: `${kindPlural(kind)}: ${names}` };
  return {
    path: place.name,
    message: `${message}: mechanism and actuator do not fit`,
    suggestion: `set mechanism: ${mechanism}, or use a ${kind}: ${names}`,
  };
}

function noMixers(path: Problem["path"], problems: Problem[]): undefined {
  problems.push({
    path: [...path, "mechanism"],
    message: "mechanism mix needs a mixer, and none is registered",
    suggestion: "use reweight or select, or load a plugin that defines a mixer",
  });
  return undefined;
}

function namedFingerprint(
  options: PipelineOptions,
  path: Problem["path"],
  catalogues: readonly Catalogue[],
  problems: Problem[],
): string | undefined {
  const wanted: { fingerprint: string; path: Problem["path"] }[] = [];
  for (const role of ["scorer", "actuator"] as const) {
    const fingerprint = options[role]?.fingerprint;
    if (fingerprint) wanted.push({ fingerprint, path: [...path, role, "fingerprint"] });
  }
  const [first, second] = wanted;
  if (first === undefined) return undefined;
  if (second !== undefined && second.fingerprint !== first.fingerprint) {
    problems.push({
      path: second.path,
      message: `scorer and actuator name two catalogues, ${first.fingerprint} and ${second.fingerprint}; one worker runs both`,
      suggestion: "name the one that holds both",
    });
    return undefined;
  }
  const live = catalogues.map((c) => c.fingerprint);
  if (live.includes(first.fingerprint)) return first.fingerprint;
  problems.push({
    path: first.path,
    message: `no live catalogue has the fingerprint "${first.fingerprint}"`,
    suggestion: `live: ${listNames(live, "dataflex-mq status")}`,
  });
  return undefined;
}

function listed(found: readonly Found[]): string {
  return found.map((f) => f.fingerprint).join(", ");
}
