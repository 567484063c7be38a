import type { Mechanism } from "../../protocol/pipeline-spec.js";
import type { Finding } from "../../redis/finding.js";
import type { PythonBeat } from "../../redis/presence.js";
import type { FailureRecord } from "../history/history-record.js";
import type { Verdict } from "../verdict/verdict-types.js";

/** One sentence about the whole system; `run`: the run that it is about. */
export interface Fact extends Finding {
  readonly run?: string;
}

/** `silent`: the trainer's heartbeat ended while steps were open. `ended`: it ended without any. */
export type RunState = "live" | "no_worker" | "silent" | "ended";
/** How far the current step of a run has come. */
const PHASES = ["received", "queued", "scoring", "published", "applied"] as const;
export type Phase = (typeof PHASES)[number];

export interface PipelineView {
  readonly name: string;
  readonly mechanism: Mechanism;
  readonly stage: string;
  readonly scorer: string | undefined;
  readonly actuator: string;
  readonly delivered: boolean;
  readonly queue: string;
  readonly domains?: readonly string[];
}

/** The newest accepted result of a pipeline, in short. */
export interface LastView {
  readonly step: number;
  readonly ess: number | null;
  readonly kept: number | null;
  readonly mean: number | null;
}

export interface RunView {
  readonly run: string;
  readonly incarnation: number;
  readonly state: RunState;
  readonly verdict: Verdict;
  readonly pipelines: readonly PipelineView[];
  /** The newest open step, else the newest one that ended; null before the first. */
  readonly step: number | null;
  readonly phase: Phase | null;
  /** Pipelines of the current step that have their outcome, and all of them. */
  readonly settled: readonly [done: number, of: number] | null;
  readonly open_steps: number;
  readonly steps_per_minute: number | null;
  readonly last: Readonly<Record<string, LastView>>;
  /** ESS of the newest steps of the first delivered reweighting pipeline, else of the first that selects; oldest first. */
  readonly spark: readonly number[];
  /** Records that the history holds. */
  readonly records: number;
  /** Redis ms of the newest record. */
  readonly seen: number | null;
}

export interface QueueView {
  readonly queue: string;
  readonly stage: string;
  readonly counts: Readonly<Record<string, number>>;
  /** Age of the job that has waited longest, ms; null when none waits. */
  readonly oldest_ms: number | null;
  readonly workers: number;
  readonly slots: number;
}
/** `late`: its heartbeat has missed a turn, and will soon count as none. `unready`: it lives and takes no jobs. */
export type WorkerState = "idle" | "busy" | "unready" | "late";

export interface WorkerView {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly state: WorkerState;
  readonly backend: string;
  readonly device: string;
  readonly slots: number;
  readonly active: number;
  readonly jobs_last_minute: number;
  /** When its last job ended, Redis ms; null before the first. */
  readonly last_job: number | null;
  /** The longest that its main thread stood still between two heartbeats. */
  readonly loop_lag_ms: number;
  readonly tensor_bytes: number;
  /** How it runs components in Python: interpreter, devices, memory and restarts of each slot; null if it has none. */
  readonly python: PythonBeat | null;
  readonly http: string | null;
  /** Unix ms. */
  readonly started: number;
  readonly stages: readonly string[];
}
export interface BrokerView {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly http: string | null;
  readonly leads: boolean;
}

export interface Overview {
  /** Redis ms. */
  readonly at: number;
  readonly version: string;
  /** Id of the last notice that history has: events after it are news. */
  readonly cursor: string;
  readonly banner: Fact;
  readonly runs: readonly RunView[];
  readonly queues: readonly QueueView[];
  readonly workers: readonly WorkerView[];
  readonly brokers: readonly BrokerView[];
  readonly errors: readonly FailureRecord[];
  /** Bytes; `max` 0: no limit. */
  readonly redis: { readonly version: string; readonly used: number; readonly max: number };
}
