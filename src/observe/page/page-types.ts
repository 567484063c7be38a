export type { ExtremeRows } from "../../protocol/statistics-messages.js";
export type {
  FailureRecord,
  HistoryRecord,
  MountRecord,
  ReleaseRecord,
  ResultRecord,
  StepRecord,
} from "../history/history-record.js";
export type { Fact, Overview, PipelineView, QueueView, RunView, WorkerView } from "../status/overview-types.js";

/** Answer of `/api/v1/config`. */
export interface PageConfig {
  readonly version: string;
  readonly weight_edges: readonly number[];
  readonly score_edges: readonly number[];
  readonly quantiles: readonly number[];
  /** Effective sample size below which a run needs attention. */
  readonly low_ess: number;
}
