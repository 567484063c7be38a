import type { Problem } from "../../protocol/mount-messages.js";
import type { PipelineSpec } from "../../protocol/pipeline-spec.js";
import { fieldNeed } from "../../scoring/components/needs.js";
import { show } from "../config/describe.js";
import type { PipelineOptions } from "../config/options.js";
import type { CatalogueEntry } from "./catalogue-entry.js";
import type { Chosen } from "./choose.js";
import { sharesProblem } from "./rules.js";

/** A mixer as used in a pipeline: it also reads the column that names the domains. */
export function withDomainKey(entry: CatalogueEntry, options: PipelineOptions): CatalogueEntry {
  if (entry.kind !== "mixer") return entry;
  return { ...entry, needs: [...entry.needs, fieldNeed({ name: options.domain_key, kind: "strings" })] };
}

/** What can be wrong or doubtful about a mix pipeline apart from its components. */
export function checkMix(
  options: PipelineOptions,
  chosen: Chosen,
  path: Problem["path"],
  problems: Problem[],
  warnings: string[],
): void {
  if (options.mechanism !== "mix") {
    for (const name of ["domains", "prior"] as const) {
      if (options[name] !== null)
        warnings.push(`${path.join(".")}: ${name} has no effect, it applies to mechanism mix`);
    }
    return;
  }
  const { domains, prior } = options;
  if (domains === null) {
    const message = "mechanism mix needs domains: the list of domain names, in order";
    problems.push({ path: [...path, "domains"], message });
  }
  const twice = domains?.find((name, i) => domains.indexOf(name) !== i);
  if (twice !== undefined) {
    problems.push({ path: [...path, "domains"], message: `domains names ${show(twice)} twice; each domain once` });
  }
  const problem = sharesProblem("prior", prior, domains?.length);
  if (problem !== undefined) problems.push({ path: [...path, "prior"], message: problem });

  const { scorer, actuator } = chosen;
  if (scorer === undefined || actuator === undefined || options.scorer === null) return;
  if (actuator.scorer === "none") {
    warnings.push(`mixer "${actuator.name}" needs no scorer: "${scorer.name}" is measured, the proportions ignore it`);
  } else if (actuator.default_scorer !== undefined && actuator.default_scorer !== scorer.name) {
    warnings.push(
      `mixer "${actuator.name}" is defined on "${actuator.default_scorer}"; with "${scorer.name}" its numbers mean something else`,
    );
  }
}

/** The mix part of a pipeline. */
export function mixSpec(options: PipelineOptions): Partial<PipelineSpec> {
  if (options.mechanism !== "mix" || options.domains === null) return {};
  const { domains, domain_key, prior } = options;
  if (prior === null) return { domains, domain_key };
  const total = prior.reduce((sum, share) => sum + share, 0);
  return { domains, domain_key, prior: prior.map((share) => share / total) };
}
