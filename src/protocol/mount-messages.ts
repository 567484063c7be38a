import type { ErrorCode } from "../errors.js";
import type { Handle } from "./messages.js";

/** The trainer's settings, in verl's terms; absent ones are not known. */
export interface TrainerSettings {
  /** Policy loss (`actor_rollout_ref.actor.policy_loss.loss_mode`). */
  readonly loss_mode?: string;
  /** How the loss is aggregated (`actor_rollout_ref.actor.loss_agg_mode`). */
  readonly loss_agg_mode?: string;
  /** The rollout's log-probs are used as the old ones (`algorithm.rollout_correction.bypass_mode`). */
  readonly bypass_mode?: boolean;
  /** verl resamples the batch itself (`algorithm.use_pf_ppo`). */
  readonly use_pf_ppo?: boolean;
  /** `actor_rollout_ref.actor.use_kl_loss`. */
  readonly use_kl_loss?: boolean;
  /** `algorithm.use_kl_in_reward`. */
  readonly use_kl_in_reward?: boolean;
  /** The rollout returns its log-probs (`actor_rollout_ref.rollout.calculate_log_probs`). */
  readonly calculate_log_probs?: boolean;
  /** Version or revision of verl, for the broker's log and for messages. */
  readonly verl?: string;
}

export interface MountRequest {
  readonly v: readonly number[];
  readonly kind: "mount";
  readonly mount_id: string;
  readonly run: string;
  readonly dataflex: unknown;
  readonly adv_estimator?: string;
  /** Fields the trainer can produce; absent: anything verl has. */
  readonly provides?: readonly string[];
  readonly group_size?: number;
  readonly trainer?: TrainerSettings;
  readonly takeover: boolean;
  /** Redis time in ms after which the client no longer waits for the answer. */
  readonly deadline: number;
}

/** One thing wrong with a configuration. `path` says where, as in `dataflex.scorer.params.temprature`. */
export interface Problem {
  readonly path: readonly (string | number)[];
  readonly message: string;
  readonly suggestion?: string;
}

export type MountAnswer =
  | { readonly ok: true; readonly handle: Handle }
  | { readonly ok: false; readonly code: ErrorCode; readonly message: string; readonly problems: readonly Problem[] };

/** The value of a reply key: the answer, or what the mount is still waiting for. */
export type MountReply =
  | { readonly state: "answered"; readonly answer: MountAnswer }
  | { readonly state: "waiting"; readonly for: "worker" };
