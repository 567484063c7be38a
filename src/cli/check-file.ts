import { builtinCatalogue } from "../catalogue/builtin.js";
import { resolveMount } from "../catalogue/resolve.js";
import type { ResolvedMount } from "../catalogue/types.js";
import { loadConfig } from "../config/load.js";
import { type LocatedProblem, locateProblems } from "../config/problems.js";

export type CheckReport =
  | (ResolvedMount & { readonly file: string; readonly group_size?: number })
  | { readonly ok: false; readonly file: string; readonly problems: readonly LocatedProblem[] };

/**
 * Judges a configuration file against the built-in components, without any service.
 * @param estimator from the command line; wins over the file's own.
 * @throws DataflexError CONFIG when the file cannot be read.
 */
export async function checkFile(file: string, estimator?: string): Promise<CheckReport> {
  const loaded = await loadConfig(file);
  if (!loaded.ok) return { ok: false, file, problems: loaded.problems };
  const { config } = loaded;
  const adv_estimator = estimator ?? config.adv_estimator;
  const resolution = resolveMount(
    {
      dataflex: config.dataflex,
      mode: "check",
      ...(adv_estimator === undefined ? {} : { adv_estimator }),
      ...(config.group_size === undefined ? {} : { group_size: config.group_size }),
    },
    [builtinCatalogue()],
  );
  if (!resolution.ok) return { ok: false, file, problems: locateProblems(resolution.problems, config) };
  return {
    ...resolution,
    file,
    notes: [...config.notes, ...resolution.notes],
    ...(config.group_size === undefined ? {} : { group_size: config.group_size }),
  };
}
