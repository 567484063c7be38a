import type { Problem } from "../../protocol/mount-messages.js";
import { didYouMean } from "../../suggest.js";
import type { CatalogueEntry } from "./catalogue-entry.js";
import { ESTIMATORS, estimatorsWithGroups, findEstimator, normalizeEstimator } from "./estimators.js";
import type { MountInput, Place } from "./resolution.js";

/**
 * A component that compares the rows of a group needs groups: an estimator that forms them and at least two rows per prompt.
 * `undefined` if there is no objection.
 */
export function groupProblem(entry: CatalogueEntry, at: Place, input: MountInput): Problem | undefined {
  if (!entry.needs_groups) return undefined;
  const who = `${entry.kind} "${entry.name}"`;
  const path = at.name;
  if (input.group_size !== undefined && input.group_size < 2) {
    return {
      path,
      message: `${who} compares the rows of a group, but every group has ${input.group_size} row (group size, verl's rollout.n)`,
      suggestion: "sample every prompt at least twice: actor_rollout_ref.rollout.n >= 2",
    };
  }
  if (input.adv_estimator === undefined) {
    if (input.mode !== "live") return undefined;
    return {
      path,
      message: `${who} compares the rows of a group, but the trainer did not say which advantage estimator it uses`,
      suggestion: `pass adv_estimator; with groups: ${estimatorsWithGroups().join(", ")}`,
    };
  }
  const estimator = findEstimator(input.adv_estimator);
  if (estimator !== undefined && !estimator.groups) {
    return {
      path,
      message:
        `${who} compares the rows of a group, but the advantage estimator "${estimator.name}" has no groups: ` +
        `nothing makes it sample a prompt more than once, so a group may be a single row`,
      suggestion: `use an estimator with groups (${estimatorsWithGroups().join(", ")}) or a component without needs_groups`,
    };
  }
  return undefined;
}

/** Remarks on the estimator itself. */
export function estimatorRemarks(input: MountInput, anyGroups: boolean): { warnings: string[]; notes: string[] } {
  if (input.adv_estimator === undefined) {
    const unchecked = anyGroups ? ": whether its groups exist was not checked" : "";
    const note = `no advantage estimator given${unchecked}; name it in algorithm.adv_estimator or with --adv-estimator`;
    return { warnings: [], notes: input.mode === "check" ? [note] : [] };
  }
  const estimator = findEstimator(input.adv_estimator);
  if (estimator === undefined) {
    const name = normalizeEstimator(input.adv_estimator);
    const near = didYouMean(
      name,
      ESTIMATORS.map((e) => e.name),
    );
    const warning = `advantage estimator "${name}" is not one of verl's: declared by the user${
      anyGroups ? ", it is taken to have groups" : ""
    }${near === undefined ? "" : `; ${near}`}`;
    return { warnings: [warning], notes: [] };
  }
  if (estimator.note !== undefined) {
    return { warnings: [`advantage estimator "${estimator.name}": ${estimator.note}`], notes: [] };
  }
  return { warnings: [], notes: [] };
}
