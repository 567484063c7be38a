import type { Problem, TrainerSettings } from "../../protocol/mount-messages.js";
import type { Composition, FieldNeed, PipelineSpec } from "../../protocol/pipeline-spec.js";
import type { Stage } from "../../protocol/stages.js";
import type { RunOptions } from "../config/options.js";

/** What a mount is resolved from. */
export interface MountInput {
  /** The `dataflex:` block, parsed but not checked. */
  readonly dataflex: unknown;
  /** As verl spells it; unset: `live` refuses group components, `check` notes it, `replay` lets its caller decide. */
  readonly adv_estimator?: string;
  /** Fields that the trainer has; absent: any that verl has. */
  readonly provides?: readonly string[];
  /** Rows of every group, where known. */
  readonly group_size?: number;
  /** The trainer's settings, not checked yet: another process sent them. */
  readonly trainer?: TrainerSettings;
  readonly mode: "live" | "check" | "replay";
}

export interface ResolvedMount {
  readonly ok: true;
  readonly pipelines: readonly PipelineSpec[];
  /** Per stage the exact fields to send. */
  readonly stages: Readonly<Partial<Record<Stage, readonly FieldNeed[]>>>;
  readonly composition: Composition;
  readonly max_wait_ms: number;
  readonly on_unavailable: "error" | "neutral";
  /** All run-level options, `null` where unset. */
  readonly run: RunOptions;
  /** Normalised: `grpo`, not `AdvantageEstimator.GRPO`. */
  readonly adv_estimator?: string;
  /** Things that may go wrong; they are part of a mount's answer. */
  readonly warnings: readonly string[];
  /** Things that were assumed or left unchecked. */
  readonly notes: readonly string[];
}

export type Resolution = ResolvedMount | { readonly ok: false; readonly problems: readonly Problem[] };

/** Where a component stands in the configuration. */
export interface Place {
  readonly block: Problem["path"];
  readonly name: Problem["path"];
  readonly params: Problem["path"];
}

export function placeOf(pipeline: Problem["path"], role: "scorer" | "actuator"): Place {
  const block = [...pipeline, role];
  return { block, name: [...block, "name"], params: [...block, "params"] };
}
