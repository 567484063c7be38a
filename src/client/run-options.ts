import type { Stage } from "../protocol/stages.js";

/** Options of `run.put`. */
export interface PutOptions {
  /** Rows of the whole step; default: the rows of this put. */
  readonly total_rows?: number;
  /** Half-open range of the rows that this put holds; default: all. */
  readonly rows?: readonly [number, number];
  /**
   * One key per row, in any order. The first put of a step names all of them, the first put of a later stage all that the stage covers,
   * other puts any part.
   */
  readonly keys?: readonly string[];
  /** Response lengths; needed for `response`-scoped fields that come padded. */
  readonly lengths?: ArrayLike<number>;
  /** Rows that only fill up the batch: they count nowhere and get weight 0. */
  readonly is_padding?: readonly boolean[];
  /** For trainers that update several times a step. Default 0. */
  readonly trigger?: number;
  /** Replaces a put that was made before: opens a new attempt of the step. */
  readonly replace?: boolean;
  /** How long Redis may take. Default: the run's `max_wait_ms`. */
  readonly timeoutMs?: number;
}

/** Options of `run.weights`. */
export interface WeightsOptions {
  /**
   * From 0 to the run's `max_wait_ms`, which is the default. It is the step's deadline, not a poll: what has not settled when it passes
   * is settled as TIMEOUT for good.
   */
  readonly timeoutMs?: number;
  /** Only the pipelines of these stages. Default: all. */
  readonly stages?: readonly Stage[];
  readonly trigger?: number;
}
