import { defined } from "../../defined.js";
import type { Catalogue } from "../../mounting/catalogue/catalogue-entry.js";
import { normalizeEstimator } from "../../mounting/catalogue/estimators.js";
import { resolveMount } from "../../mounting/catalogue/resolve.js";
import { isRecord } from "../../mounting/config/describe.js";
import { type ConfigFile, loadConfig } from "../../mounting/config/load-config.js";
import { configError, locateProblems } from "../../mounting/config/problems.js";
import type { TrainerSettings } from "../../protocol/mount-messages.js";
import type { PipelineSpec } from "../../protocol/pipeline-spec.js";
import { inputError } from "./input-error.js";
import type { RecordedStep } from "./recorded-step.js";
import { namesOf } from "./replay-fields.js";

/** What a replay mounts, and what was assumed for it. */
export interface ReplayPlan {
  readonly config: ConfigFile;
  readonly adv_estimator?: string;
  readonly provides: readonly string[];
  /** Of the configuration's trainer, what concerns the loss; a recorded step has the fields that it has. */
  readonly trainer?: TrainerSettings;
  readonly notes: readonly string[];
}

export interface PlanOptions {
  readonly file: string;
  readonly configFile: string;
  /** From the command line: overrides the step's, which overrides the configuration's. */
  readonly advEstimator?: string;
  /** Catalogues that the services have for certain. */
  readonly catalogues: readonly Catalogue[];
  /** They have no others, so the configuration can be checked before any service starts. */
  readonly complete: boolean;
}

/**
 * Reads the configuration and settles the advantage estimator: command line, recorded step, configuration, else `grpo` where
 * groups of two exist. The rows a group *should* have are not taken from the configuration: a recorded step is as it is.
 *
 * @throws CONFIG with every problem and its place
 * @throws INVALID_INPUT for a component that compares the rows of a group on a file without one group of two
 */
export async function planReplay(step: RecordedStep, options: PlanOptions): Promise<ReplayPlan> {
  const loaded = await loadConfig(options.configFile);
  if (!loaded.ok) throw configError(loaded.problems);
  const { config } = loaded;
  const groups = hasGroupOfTwo(step);
  const named = options.advEstimator ?? step.adv_estimator ?? config.adv_estimator;
  const adv_estimator = named === undefined ? (groups ? "grpo" : undefined) : normalizeEstimator(named);
  const notes = [...config.notes];
  if (named === undefined && groups) {
    notes.push("no advantage estimator given; the file has groups, so grpo is assumed (--adv-estimator names another)");
  }
  const provides = [...namesOf(step), ...(step.domain === undefined ? [] : domainKeys(config.dataflex))];
  const about = defined({ adv_estimator, trainer: lossOf(config.trainer) });
  const resolved = resolveMount({ dataflex: config.dataflex, mode: "replay", provides, ...about }, options.catalogues);
  if (resolved.ok) refuseWithoutGroups(options.file, step, resolved.pipelines);
  else if (options.complete) throw configError(locateProblems(resolved.problems, config));
  return { config, provides, notes, ...about };
}

function lossOf(trainer: TrainerSettings | undefined): TrainerSettings | undefined {
  return trainer && defined({ loss_mode: trainer.loss_mode, loss_agg_mode: trainer.loss_agg_mode });
}

/** Only components that compare the rows of a group read `uid`. */
export function refuseWithoutGroups(file: string, step: RecordedStep, pipelines: readonly PipelineSpec[]): void {
  const grouping = pipelines.find(({ fields }) => fields.some(({ name }) => name === "uid"));
  if (grouping === undefined || hasGroupOfTwo(step)) return;
  const what = grouping.scorer?.name ?? grouping.actuator.name;
  const why = step.uid === undefined ? "it has no uid" : "every uid stands in one row only";
  throw inputError(
    file,
    `${what} compares the rows of a group, but this file has no group of two rows (${why}); record several responses of a prompt`,
    { pipeline: grouping.name },
  );
}

/** Whether any two rows that are not padding share a `uid`: without that, no group has statistics. */
export function hasGroupOfTwo(step: RecordedStep): boolean {
  const seen = new Set<string>();
  for (const [row, uid] of (step.uid ?? []).entries()) {
    if (step.is_padding?.[row] === 1) continue;
    if (seen.has(uid)) return true;
    seen.add(uid);
  }
  return false;
}

/**
 * Names under which a configuration reads the domain column. A recorded step has one such column, `domain`: whatever the dataset
 * called it, that is what it holds.
 */
function domainKeys(dataflex: unknown): string[] {
  if (!isRecord(dataflex)) return [];
  const blocks = isRecord(dataflex.pipelines) ? Object.values(dataflex.pipelines) : [dataflex];
  const keys = blocks.map((block) => (isRecord(block) ? block.domain_key : undefined));
  return [...new Set(keys.filter((key): key is string => typeof key === "string"))];
}
