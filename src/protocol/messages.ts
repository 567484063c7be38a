import type { Limits } from "../columns/limits.js";
import type { ColumnHeader } from "../columns/tensor.js";
import type { ErrorCode } from "../errors.js";
import type { JobOutcome } from "./outcome-words.js";
import type { Composition, FieldNeed, Mechanism, PipelineSpec } from "./pipeline-spec.js";
import type { Stage } from "./stages.js";
import type { Distribution, ExtremeRows, WeightStats } from "./statistics-messages.js";

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
  readonly outcome: Exclude<JobOutcome, "retried">;
  readonly reason?: string;
  readonly worker: string;
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
