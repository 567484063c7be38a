import type { FieldKind } from "../columns/field-kinds.js";
import type { Scope } from "../columns/tensor.js";
import type { Stage } from "./stages.js";

export const MECHANISMS = ["reweight", "select", "mix"] as const;
export type Mechanism = (typeof MECHANISMS)[number];

/** A field that a component reads. Only what holds numbers of tokens has a scope. */
export interface FieldNeed {
  readonly name: string;
  readonly scope?: Scope;
  /** Absent: by scope and name (`kindOf`). */
  readonly kind?: FieldKind;
}

export interface ComponentRef {
  readonly name: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** One pipeline as mounted: everything a worker needs to score and act, resolved and validated. */
export interface PipelineSpec {
  readonly name: string;
  readonly mechanism: Mechanism;
  readonly stage: Stage;
  /** Absent only for mixers that need none (`static`). */
  readonly scorer?: ComponentRef;
  readonly actuator: ComponentRef;
  /** Exactly the fields that the trainer sends at `stage` for this pipeline. */
  readonly fields: readonly FieldNeed[];
  /** Catalogue fingerprint whose workers can run it; with `stage` it names the queue. */
  readonly fingerprint: string;
  readonly granularity: "row" | "token" | "domain";
  readonly normalize: "none" | "row" | "token";
  readonly on_nonfinite: "error" | "drop" | "neutral";
  readonly on_empty: "drop_all" | "keep_all" | "error";
  /** Select only: least rows (or prompts) to keep; fewer, and rejected ones stay after all. */
  readonly keep_when_short?: number;
  readonly on_incomplete_group: "error" | "score";
  /** Rows a group must have; absent when unknown. */
  readonly group_size?: number;
  readonly warmup_step: number;
  readonly update_step: number;
  readonly window: number;
  readonly domains?: readonly string[];
  /** Mix only: string column that names a row's domain. */
  readonly domain_key?: string;
  /** Mix only: shares before any data, in the order of `domains`, sum 1. */
  readonly prior?: readonly number[];
  /**
   * Pre-rollout policies only. `select` chooses the prompts by the state of the pipeline `fed_by`; `feed` is that hidden pipeline: it
   * summarises the responses for later steps.
   */
  readonly policy?: { readonly role: "select"; readonly fed_by: string } | { readonly role: "feed" };
  /** The actuator reads what this pipeline remembered of earlier steps. */
  readonly remembers?: true;
  readonly shadow: boolean;
}

export interface Composition {
  readonly combine: "multiply" | "replace";
  readonly clip?: readonly [number, number];
  readonly rescale: "none" | "row" | "token";
}
