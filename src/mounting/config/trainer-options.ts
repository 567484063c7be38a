import { z } from "zod";
import type { TrainerSettings } from "../../protocol/mount-messages.js";
import { isRecord, type JsonSchema, show } from "./describe.js";

/**
 * What a trainer reports about its own settings, in verl's terms, and where a verl configuration has them. All are optional: a setting that
 * is absent is not known, and no default is assumed, since a file may override others that were not given.
 */
const settings = z.strictObject({
  loss_mode: z.string().min(1).optional().meta({ description: "policy loss" }),
  loss_agg_mode: z.string().min(1).optional().meta({ description: "how the loss is aggregated over tokens and rows" }),
  bypass_mode: z.boolean().optional().meta({ description: "the rollout's log-probs stand for the old ones" }),
  use_pf_ppo: z.boolean().optional().meta({ description: "verl resamples the batch itself" }),
  use_kl_loss: z.boolean().optional().meta({ description: "KL to the reference in the loss" }),
  use_kl_in_reward: z.boolean().optional().meta({ description: "KL to the reference in the reward" }),
  calculate_log_probs: z.boolean().optional().meta({ description: "the rollout returns its log-probs" }),
  verl: z.string().min(1).optional().meta({ description: "version or revision of verl" }),
});

export const TRAINER_SCHEMA: JsonSchema = z.toJSONSchema(settings, { io: "input" }) as JsonSchema;

/** Settings that a verl configuration holds. */
export type VerlSetting = Exclude<keyof TrainerSettings, "verl">;

export const VERL_PATHS: Readonly<Record<VerlSetting, readonly string[]>> = {
  loss_mode: ["actor_rollout_ref", "actor", "policy_loss", "loss_mode"],
  loss_agg_mode: ["actor_rollout_ref", "actor", "loss_agg_mode"],
  bypass_mode: ["algorithm", "rollout_correction", "bypass_mode"],
  use_pf_ppo: ["algorithm", "use_pf_ppo"],
  use_kl_loss: ["actor_rollout_ref", "actor", "use_kl_loss"],
  use_kl_in_reward: ["algorithm", "use_kl_in_reward"],
  calculate_log_probs: ["actor_rollout_ref", "rollout", "calculate_log_probs"],
};

/** The settings of a whole verl configuration. One that is no plain value of its type (an interpolation, say) is noted and left out. */
export function trainerSettingsOf(root: unknown, notes: string[]): TrainerSettings {
  const found: Record<string, unknown> = {};
  for (const [name, path] of Object.entries(VERL_PATHS)) {
    const value = dig(root, path);
    if (value === undefined || value === null) continue;
    const plain = typeof value !== "string" || !value.includes("${");
    if (plain && settings.shape[name as VerlSetting].safeParse(value).success) found[name] = value;
    else notes.push(`${path.join(".")} is not a plain value (${show(value)}): not read`);
  }
  return found as TrainerSettings;
}

/** The value at `path`; undefined if there is none. */
export function dig(root: unknown, path: readonly string[]): unknown {
  let here = root;
  for (const part of path) {
    if (!isRecord(here) || !Object.hasOwn(here, part)) return undefined;
    here = here[part];
  }
  return here;
}
