import { defined } from "../../defined.js";
import type { ResolvedMount } from "../../mounting/catalogue/resolution.js";
import { resolveMount } from "../../mounting/catalogue/resolve.js";
import { loadConfig } from "../../mounting/config/load-config.js";
import { type LocatedProblem, locateProblems } from "../../mounting/config/problems.js";
import { redactUrl } from "../../redact.js";
import { type OwnComponents, ownCatalogues } from "../services/own-components.js";

export type CheckReport =
  | (ResolvedMount & { readonly file: string; readonly group_size?: number })
  | { readonly ok: false; readonly file: string; readonly problems: readonly LocatedProblem[] };

/**
 * Checks a configuration file against the built-in components and those of plugins, without any service.
 * @param estimator from the command line; overrides the file's.
 * @throws DataflexError CONFIG when the file cannot be read, PLUGIN when a plugin cannot be loaded.
 */
export async function checkFile(
  file: string,
  estimator?: string,
  components: OwnComponents = {},
): Promise<CheckReport> {
  const loaded = await loadConfig(file);
  if (!loaded.ok) return { ok: false, file, problems: loaded.problems };
  const { config } = loaded;
  const { group_size, trainer } = config;
  const adv_estimator = estimator ?? config.adv_estimator;
  const resolution = resolveMount(
    {
      dataflex: config.dataflex,
      mode: "check",
      ...defined({ adv_estimator, group_size, trainer }),
    },
    await ownCatalogues(components),
  );
  if (!resolution.ok) return { ok: false, file, problems: locateProblems(resolution.problems, config) };
  const { run } = resolution;
  return {
    ...resolution,
    // Reports are pasted into tickets.
    run: { ...run, redis_url: run.redis_url === null ? null : redactUrl(run.redis_url) },
    file,
    notes: [...config.notes, ...resolution.notes],
    ...defined({ group_size }),
  };
}
