import type { Limits } from "../columns/limits.js";
import type { ColumnHeader, Scope } from "../columns/tensor.js";
import type { ErrorCode } from "../errors.js";
import type { AttemptOutcome } from "./outcome-words.js";
import type { Stage } from "./stages.js";

/**
 * Every message that crosses a process, in the order of a step's way:
 * client → (MountRequest → Handle) → PutHeader → broker → JobData → worker → ResultHeader | FailureHeader → client.
 *
 * Vocabulary: *run* one training run; *incarnation* one life of its trainer; *step* `(global_steps, trigger)`; *stage* when a
 * signal exists; *field* a named column; *row* one response; *group* rows sharing a `uid`; *pipeline* one scorer + one
 * actuator mounted under a name; *put* one post of fields for a set of rows; *shard* the rows one job scores; *settle* a
 * pipeline's step gets its one accepted outcome.
 */
/** Versions this build speaks; mount picks the highest common one. */
export const PROTOCOL_VERSIONS: readonly number[] = [2];

export const MECHANISMS = ["reweight", "select", "mix"] as const;
export type Mechanism = (typeof MECHANISMS)[number];

/** A field that a component reads. `strings` columns (`uid`, `domain`, `session`) have no scope. */
export interface FieldNeed {
  readonly name: string;
  readonly scope?: Scope;
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
  /** Exactly what the trainer sends at `stage` for this pipeline. */
  readonly fields: readonly FieldNeed[];
  /** Catalogue fingerprint whose workers can run it; with `stage` it names the queue. */
  readonly fingerprint: string;
  readonly granularity: "row" | "token" | "domain";
  readonly normalize: "none" | "row" | "token";
  readonly on_nonfinite: "error" | "drop" | "neutral";
  readonly on_empty: "drop_all" | "keep_all" | "error";
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
  /** The actuator reads what it remembered of earlier steps of this pipeline. */
  readonly remembers?: true;
  readonly shadow: boolean;
}

export interface Composition {
  readonly combine: "multiply" | "replace";
  readonly clip?: readonly [number, number];
  readonly rescale: "none" | "row" | "token";
}

/** The answer to a mount: all that a producer needs to know. */
export interface Handle {
  readonly v: number;
  readonly run: string;
  readonly incarnation: number;
  readonly mount_id: string;
  readonly limits: Limits;
  /** Per stage the exact fields to send. Nothing else ever travels. */
  readonly stages: Readonly<Partial<Record<Stage, readonly FieldNeed[]>>>;
  readonly pipelines: readonly PipelineSpec[];
  readonly composition: Composition;
  readonly max_wait_ms: number;
  readonly on_unavailable: "error" | "neutral";
  readonly warnings: readonly string[];
}

/** What the client writes beside a put's chunks; the status hash keeps it, byte for byte. */
export interface PutHeader {
  readonly v: number;
  readonly id: string;
  readonly hash: string;
  readonly stage: Stage;
  readonly total_rows: number;
  /** Ascending, disjoint, half-open row ranges: `[start, stop, start, stop, …]`. */
  readonly rows: readonly number[];
  readonly columns: readonly ColumnHeader[];
  readonly bytes: number;
  readonly chunks: number;
  readonly chunk_bytes: number;
}

/** BullMQ job data: ids only. */
export interface JobData {
  readonly run: string;
  readonly incarnation: number;
  readonly step: string;
  readonly stage: Stage;
  readonly pipeline: string;
  readonly attempt: number;
  /** Digest of the rows and puts that the pipeline's fields come from. */
  readonly content: string;
  /** `[index, count]` of the shard this job scores. */
  readonly shard: readonly [number, number];
  /** Redis time in ms. */
  readonly deadline: number;
  readonly added: number;
}

/** What a finished job returns to BullMQ: a receipt, never data. */
export interface Receipt {
  readonly outcome: Exclude<AttemptOutcome, "retried">;
  readonly reason?: string;
  readonly worker: string;
}

/** Merged over shards, never averaged. Over valid (live) elements, float64. `std` is the population deviation. */
export interface WeightStats {
  readonly n: number;
  readonly mean: number;
  readonly std: number;
  readonly min: number;
  readonly max: number;
  /** 1 / (1 + var / mean²); 0 when all weights are 0. */
  readonly ess_ratio: number;
  readonly kept_ratio: number;
  readonly zero_ratio: number;
}

/** How many elements fell into each bin (one a bound, one above the last), and their sum. */
export interface Bins {
  readonly counts: readonly number[];
  readonly sum: number;
}
export interface WeightDistribution extends Bins {
  /** Values at `QUANTILES`, linearly between ranks. */
  readonly quantiles: readonly number[];
}
export interface Distribution {
  readonly weights?: WeightDistribution;
  readonly scores?: Bins;
}

/**
 * Live rows by weight, ascending, one list a column: up to ten of the lowest, then up to ten of the highest (all, where there are no
 * more). A row's weight and score are means over its tokens where they are per token.
 */
export interface ExtremeRows {
  readonly rows: readonly number[];
  readonly weights: readonly number[];
  readonly scores?: readonly number[];
  readonly uids?: readonly string[];
}

export interface Producer {
  readonly worker: string;
  readonly pid: number;
  readonly job_id: string;
  /** Of a worker's package. */
  readonly version?: string;
}

/** Accepted outcome of a pipeline's step. Its body holds the columns `weights` (and `mask` for token weights, `kept`). */
export interface ResultHeader {
  readonly v: number;
  readonly kind: "result";
  readonly pipeline: string;
  readonly mechanism: Mechanism;
  readonly stage: Stage;
  readonly attempt: number;
  readonly granularity: "row" | "token" | "domain";
  readonly rows: number;
  /** Which rows of the step's table these are, in their order: `[start, stop, …]`. */
  readonly ranges: readonly number[];
  readonly width: number;
  readonly columns: readonly ColumnHeader[];
  readonly bytes: number;
  readonly chunks: number;
  readonly chunk_bytes: number;
  readonly proportions?: Readonly<Record<string, number>>;
  readonly stats?: WeightStats;
  readonly score_stats?: { readonly n: number; readonly mean: number; readonly std: number };
  /** Bins of `WEIGHT_EDGES` and `SCORE_EDGES`, over live elements; of very many elements an evenly spaced sample. */
  readonly distribution?: Distribution;
  readonly extremes?: ExtremeRows;
  /** Numbers a person would chart, by name (`kept_frac`, `rows_reward_outside_mask` …). */
  readonly metrics: Readonly<Record<string, number>>;
  readonly flags: readonly string[];
  readonly warnings: readonly string[];
  /** Milliseconds by phase, monotonic clock of the worker. */
  readonly timings: Readonly<Record<string, number>>;
  readonly producer: Producer;
}

/** What a trainer reports when it releases a step. */
export interface ReleaseReport {
  /** Milliseconds that it blocked for the step's weights. */
  readonly wait_ms: number;
  /** The composition as it went to the loss, before existing `rollout_is_weights`; absent when none was asked for. */
  readonly combined?: CombinedReport;
}

export interface CombinedReport {
  /** One weight a row, or one a token. */
  readonly level: "sample" | "token";
  readonly stats: WeightStats;
  /** Of the delivered pipelines' product, before re-mask, clip and rescale. */
  readonly product?: WeightStats;
  /** Shares of elements that `clip` moved to its lower and to its upper bound. */
  readonly clipped: { readonly low: number; readonly high: number };
}

export interface FailureHeader {
  readonly v: number;
  readonly kind: "failure";
  readonly pipeline: string;
  readonly stage: Stage;
  readonly attempt: number;
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly producer: Producer;
}

export type OutcomeHeader = ResultHeader | FailureHeader;
