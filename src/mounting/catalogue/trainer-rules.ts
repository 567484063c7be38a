import type { Problem, TrainerSettings } from "../../protocol/mount-messages.js";
import { VERL_PATHS, type VerlSetting } from "../config/trainer-options.js";
import type { CatalogueEntry } from "./catalogue-entry.js";

/** A component, as the rules need it. */
export interface RuledPart {
  readonly entry: CatalogueEntry;
  readonly params: Readonly<Record<string, unknown>>;
  /** Where it is named. */
  readonly path: Problem["path"];
  /** Its weights reach the loss: no shadow, no mixer, no choice of prompts. */
  readonly weighs: boolean;
}

export interface TrainerFacts {
  /** Undefined: the trainer gave no settings. */
  readonly trainer: TrainerSettings | undefined;
  readonly provides: readonly string[] | undefined;
  /** Run option `i_know_it_multiplies`. */
  readonly multiplies: boolean;
  readonly parts: readonly RuledPart[];
}

interface Rule<S> {
  readonly verdict: "refuse" | "warn";
  readonly broken: (facts: Given, subject: S) => boolean;
  readonly says: (facts: Given, subject: S) => string;
  readonly suggestion: string;
}
interface Given extends TrainerFacts {
  readonly trainer: TrainerSettings;
}

/**
 * verl's policy losses that multiply each token's loss by `rollout_is_weights`. Source: the registry in verl's `core_algos.py`; `geo_mean`
 * (multiplies a row's loss by the geometric mean of its weights) and `bypass_mode` (ignores them) have rules of their own.
 */
const MULTIPLYING = [
  ...["vanilla", "dppo_tv", "dppo_kl", "gspo", "sapo", "gpg"],
  ...["clip_cov", "kl_cov", "dro", "cispo", "geo_mean"],
];

/** Rules about the loss: they matter only if some pipeline's weights reach it. */
export const LOSS_RULES: Readonly<Record<string, Rule<undefined> & { readonly setting: VerlSetting }>> = {
  loss_ignores_weights: {
    setting: "loss_mode",
    verdict: "refuse",
    broken: ({ trainer }) => trainer.loss_mode === "bypass_mode",
    says: () => "the policy loss bypass_mode ignores rollout_is_weights: no weight would have any effect",
    suggestion: `use a loss that multiplies them in: ${MULTIPLYING.join(", ")}`,
  },
  loss_unknown: {
    setting: "loss_mode",
    verdict: "refuse",
    broken: ({ trainer: { loss_mode }, multiplies }) =>
      loss_mode !== undefined && loss_mode !== "bypass_mode" && !MULTIPLYING.includes(loss_mode) && !multiplies,
    says: ({ trainer: { loss_mode, verl } }) =>
      `the policy loss "${loss_mode}" is not known here${verl === undefined ? "" : ` (verl ${verl})`}: whether it multiplies rollout_is_weights in is unknown`,
    suggestion: `known: ${MULTIPLYING.join(", ")}; for one of your own that does, set dataflex.i_know_it_multiplies: true`,
  },
  loss_geometric_mean: {
    setting: "loss_mode",
    verdict: "warn",
    broken: ({ trainer, parts }) =>
      trainer.loss_mode === "geo_mean" && !parts.some((part) => part.weighs && zeroInsideRow(part)),
    says: () =>
      "the policy loss geo_mean multiplies a row's loss by the geometric mean of its weights, not each token's",
    suggestion: "weigh rows, or use another loss",
  },
  loss_multiplies_kl: {
    setting: "loss_mode",
    verdict: "warn",
    broken: ({ trainer }) => trainer.loss_mode === "kl_cov",
    says: () => "the policy loss kl_cov multiplies its KL part by the weights too",
    suggestion: "clip_cov does not",
  },
  resampled_batch: {
    setting: "use_pf_ppo",
    verdict: "refuse",
    broken: ({ trainer }) => trainer.use_pf_ppo === true,
    says: () =>
      "use_pf_ppo has verl resample the rows of the batch: weights would belong to other rows than they were made for",
    suggestion: "set algorithm.use_pf_ppo: false; the reweighter pf_ppo does the same through the weights",
  },
  bypass_switches_loss: {
    setting: "bypass_mode",
    verdict: "warn",
    // Trainers that report verl's version are v1 (docs/protocol.md section 5.3), which leave the loss alone.
    broken: ({ trainer }) =>
      trainer.bypass_mode === true && trainer.loss_mode !== "bypass_mode" && trainer.verl === undefined,
    says: () =>
      "under rollout_correction.bypass_mode verl's older trainers switch to the policy loss bypass_mode, which ignores rollout_is_weights",
    suggestion: "use a v1 trainer, or set bypass_mode: false",
  },
};

const RATIO = "set actor_rollout_ref.rollout.calculate_log_probs: true";
const REFERENCE = "set actor_rollout_ref.actor.use_kl_loss: true or algorithm.use_kl_in_reward: true";

/** Rules about one component each. */
export const COMPONENT_RULES: Readonly<Record<string, Rule<RuledPart>>> = {
  zero_in_geometric_mean: {
    verdict: "refuse",
    broken: ({ trainer }, part) => trainer.loss_mode === "geo_mean" && part.weighs && zeroInsideRow(part),
    says: (_, part) =>
      `${who(part)} can give single tokens weight 0, and the policy loss geo_mean multiplies a row's loss by the geometric mean of its weights: one zero would silence the row`,
    suggestion: "use a component that weighs rows, or another loss",
  },
  entropy_under_bypass: {
    verdict: "refuse",
    broken: ({ trainer }, part) => trainer.bypass_mode === true && reads(part, "entropy"),
    says: (_, part) => `${who(part)} reads entropy, which verl does not compute under rollout_correction.bypass_mode`,
    suggestion: "set algorithm.rollout_correction.bypass_mode: false, or use a component without entropy",
  },
  ratio_under_bypass: {
    verdict: "refuse",
    broken: ({ trainer }, part) =>
      trainer.bypass_mode === true && reads(part, "rollout_log_probs") && reads(part, "old_log_probs"),
    says: (_, part) =>
      `${who(part)} compares old_log_probs with rollout_log_probs, which are the same under rollout_correction.bypass_mode`,
    suggestion: "set algorithm.rollout_correction.bypass_mode: false",
  },
  ratio_without_log_probs: {
    verdict: "refuse",
    broken: ({ trainer }, part) => trainer.calculate_log_probs === false && reads(part, "rollout_log_probs"),
    says: (_, part) =>
      `${who(part)} reads rollout_log_probs, which the rollout does not return (calculate_log_probs is false)`,
    suggestion: RATIO,
  },
  ratio_unsure: {
    verdict: "warn",
    broken: ({ trainer, provides }, part) =>
      trainer.calculate_log_probs === undefined && unsure(part, "rollout_log_probs", provides),
    says: (_, part) =>
      `${who(part)} reads rollout_log_probs, and calculate_log_probs is not given; verl's default is false`,
    suggestion: RATIO,
  },
  reference_without_kl: {
    verdict: "refuse",
    broken: ({ trainer }, part) =>
      trainer.use_kl_loss === false && trainer.use_kl_in_reward === false && reads(part, "ref_log_prob"),
    says: (_, part) =>
      `${who(part)} reads ref_log_prob, which verl computes only with use_kl_loss or use_kl_in_reward; both are false`,
    suggestion: REFERENCE,
  },
  reference_unsure: {
    verdict: "warn",
    broken: ({ trainer: { use_kl_loss, use_kl_in_reward }, provides }, part) =>
      use_kl_loss !== true &&
      use_kl_in_reward !== true &&
      (use_kl_loss === undefined || use_kl_in_reward === undefined) &&
      unsure(part, "ref_log_prob", provides),
    says: (_, part) =>
      `${who(part)} reads ref_log_prob, which verl computes only with use_kl_loss or use_kl_in_reward; neither is known to be true`,
    suggestion: REFERENCE,
  },
};

/** Every problem that the trainer's settings reveal; none if it gave no settings. Problems point at the setting or the component. */
export function applyTrainerRules(facts: TrainerFacts): { problems: Problem[]; warnings: string[] } {
  const problems: Problem[] = [];
  const warnings: string[] = [];
  const { trainer } = facts;
  if (trainer === undefined) return { problems, warnings };
  const given: Given = { ...facts, trainer };
  const judge = <S>(rule: Rule<S>, subject: S, path: Problem["path"]): void => {
    if (!rule.broken(given, subject)) return;
    const message = rule.says(given, subject);
    if (rule.verdict === "refuse") problems.push({ path, message, suggestion: rule.suggestion });
    else warnings.push(`${message}; ${rule.suggestion}`);
  };
  if (facts.parts.some((part) => part.weighs)) {
    for (const rule of Object.values(LOSS_RULES)) judge(rule, undefined, VERL_PATHS[rule.setting]);
  }
  for (const part of facts.parts) for (const rule of Object.values(COMPONENT_RULES)) judge(rule, part, part.path);
  return { problems, warnings };
}

/** Row weights are constant over a row; only some kinds of token weights are known to stay above 0. */
function zeroInsideRow({ entry, params }: RuledPart): boolean {
  if (entry.accepts !== "token") return false;
  const { positive } = entry;
  const value = positive && params[positive.param];
  if (positive === undefined || typeof value !== "number") return true;
  return !(value > (positive.above ?? -Infinity) && value < (positive.below ?? Infinity));
}

function reads({ entry }: RuledPart, field: string): boolean {
  return [...entry.needs, ...(entry.feed_needs ?? [])].some((need) => need.name === field);
}

/** Needed, but not among the fields that the trainer says it has. */
function unsure(part: RuledPart, field: string, provides: readonly string[] | undefined): boolean {
  return reads(part, field) && !provides?.includes(field);
}

function who({ entry }: RuledPart): string {
  return `${entry.kind} "${entry.name}"`;
}
