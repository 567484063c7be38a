import type { Redis } from "ioredis";
import type { ColumnHeader } from "../columns/tensor.js";
import type { Logger } from "../log.js";
import type { JobData, ResultHeader } from "../protocol/messages.js";
import type { JobOutcome } from "../protocol/outcome-words.js";
import type { PipelineSpec } from "../protocol/pipeline-spec.js";
import type { Handles } from "../redis/mounts.js";
import type { StateCache } from "./state-cache.js";

export interface JobContext {
  readonly redis: Redis;
  readonly handles: Handles;
  readonly workerId: string;
  readonly states: StateCache;
  readonly log: Logger;
  /** Longest time that one job may compute. */
  readonly computeLimitMs: number;
  /** Called after every execution of a job, for metrics. */
  readonly onExecution: (execution: JobExecution) => void;
}

/** Facts about one execution of a job; a job that is retried is executed several times. Durations in ms. */
export interface JobExecution {
  readonly job: JobData;
  readonly spec: PipelineSpec | undefined;
  readonly outcome: JobOutcome;
  readonly reason?: string;
  readonly result?: ResultHeader;
  readonly waitMs: number;
  readonly totalMs: number;
  readonly readBytes: number;
  readonly writtenBytes: number;
  /** Columns that were fetched, of every put; the written ones are in `result`. */
  readonly readColumns: readonly ColumnHeader[];
  /** Tokens of the mask that was read; absent without one. */
  readonly tokens?: number;
  /** How long settling took. */
  readonly publishMs?: number;
  /** Rows whose field or score was not finite. */
  readonly nonfinite?: number;
}

/** One question to Redis, asked again while Redis refuses it and the step may still be in time. */
export type Ask = <T>(what: string, work: () => Promise<T>) => Promise<T>;
