import type { Notice, ReleasedNotice, SettledNotice } from "../../broker/notice.js";
import { defined } from "../../defined.js";
import type { FailureHeader, Producer, ResultHeader } from "../../protocol/messages.js";
import type { Mechanism } from "../../protocol/pipeline-spec.js";
import type { CombinedReport, ExtremeRows, WeightStats } from "../../protocol/statistics-messages.js";

interface RecordBase {
  /** Id of the notice it was made from: the same wherever the record appears, and in the order of events. */
  readonly id: string;
  readonly run: string;
  readonly incarnation: number;
  /** Redis time in ms. */
  readonly at: number;
}
interface StepRecordBase extends RecordBase {
  readonly step: number;
  readonly trigger: number;
}
/** A trainer mounted the run. Two of these show which settings changed in between. */
export interface MountRecord extends RecordBase {
  readonly kind: "mounted";
  /** Version of the broker that resolved the configuration. */
  readonly version: string;
  /** `<pipeline>.<option>` → value as text. */
  readonly settings: Readonly<Record<string, string>>;
}
/** A pipeline's step with an accepted result. Numbers have six significant digits. */
export interface ResultRecord extends StepRecordBase {
  readonly kind: "result";
  readonly pipeline: string;
  readonly mechanism: Mechanism;
  readonly stage: string;
  readonly granularity: "row" | "token" | "domain";
  readonly rows: number;
  /** Since the step's first put. */
  readonly ms: number | null;
  readonly stats?: WeightStats;
  readonly score_stats?: { readonly n: number; readonly mean: number; readonly std: number };
  /** Elements in each weight bin, and in each score bin; `/api/v1/config` has their edges. */
  readonly weight_bins?: readonly number[];
  readonly score_bins?: readonly number[];
  /** Weights at the quantiles of `/api/v1/config`. */
  readonly quantiles?: readonly number[];
  readonly proportions?: Readonly<Record<string, number>>;
  readonly metrics: Readonly<Record<string, number>>;
  readonly flags: readonly string[];
  readonly warnings: readonly string[];
  readonly timings: Readonly<Record<string, number>>;
  readonly worker: string;
  readonly pid: number;
  /** Of the worker's package; empty where it is not known. */
  readonly version: string;
}
export interface FailureRecord extends StepRecordBase {
  readonly kind: "failure";
  readonly pipeline: string;
  readonly stage: string;
  readonly code: string;
  readonly message: string;
  readonly ms: number | null;
  readonly worker: string;
}
/** The trainer is done with the step. `wait_ms`: how long it was blocked waiting for the weights. */
export interface ReleaseRecord extends StepRecordBase {
  readonly kind: "released";
  readonly wait_ms: number | null;
  /** The composed weights, as they went into the loss. */
  readonly combined?: CombinedReport;
  /** Code of the error for which the step trained without weights. */
  readonly neutral?: string;
  /** Earlier steps without weights whose release was lost. */
  readonly unreported?: number;
}
export type StepRecord = ResultRecord | FailureRecord | ReleaseRecord;
export type HistoryRecord = MountRecord | StepRecord;

/** Texts of components can be of any length; a history of 20,000 entries cannot. */
const TEXT_LENGTH = 500;
const WARNINGS = 4;

/** A notice in the form that history keeps and pages show. */
export function recordOf(notice: Notice): HistoryRecord {
  if (notice.kind === "mounted") return notice;
  if (notice.kind === "released") return releaseRecord(notice);
  const { header } = notice;
  return header.kind === "result" ? resultRecord(notice, header) : failureRecord(notice, header);
}

function base({ id, run, incarnation, step, at }: SettledNotice | ReleasedNotice): StepRecordBase {
  const [number = "", trigger = ""] = step.split(".");
  return { id, run, incarnation, step: Number(number), trigger: Number(trigger), at };
}

function releaseRecord(notice: ReleasedNotice): ReleaseRecord {
  const { combined, neutral, unreported } = notice;
  return {
    ...base(notice),
    kind: "released",
    wait_ms: finite(notice.wait_ms),
    ...defined({ neutral, unreported }),
    ...(combined && {
      combined: { level: combined.level, stats: rounded(combined.stats), clipped: rounded(combined.clipped) },
    }),
  };
}

function failureRecord(notice: SettledNotice, { code, message, stage, producer }: FailureHeader): FailureRecord {
  const text = String(message).slice(0, TEXT_LENGTH);
  const { pipeline, ms } = notice;
  const { worker } = by(producer);
  return { ...base(notice), kind: "failure", pipeline, stage, code, message: text, ms: finite(ms), worker };
}

function resultRecord(notice: SettledNotice, header: ResultHeader): ResultRecord {
  const { stats, score_stats, distribution, proportions } = header;
  return {
    ...base(notice),
    kind: "result",
    pipeline: notice.pipeline,
    mechanism: header.mechanism,
    stage: header.stage,
    granularity: header.granularity,
    rows: header.rows,
    ms: finite(notice.ms),
    ...(stats && { stats: rounded(stats) }),
    ...(score_stats && { score_stats: rounded(score_stats) }),
    ...(distribution?.weights && {
      weight_bins: distribution.weights.counts,
      quantiles: distribution.weights.quantiles.map(short),
    }),
    ...(distribution?.scores && { score_bins: distribution.scores.counts }),
    ...(proportions && { proportions: rounded(proportions) }),
    metrics: rounded(header.metrics ?? {}),
    flags: header.flags ?? [],
    warnings: (header.warnings ?? []).slice(0, WARNINGS).map((text) => String(text).slice(0, TEXT_LENGTH)),
    timings: rounded(header.timings ?? {}),
    ...by(header.producer),
  };
}

function by(producer: Partial<Producer> | undefined): { worker: string; pid: number; version: string } {
  const { worker = "", pid = 0, version = "" } = producer ?? {};
  return { worker: String(worker), pid: Number(pid), version: String(version) };
}

/** The rows of a result with the lowest and highest weights, kept apart from its record and for fewer steps. */
export function extremesOf(notice: Notice): ExtremeRows | undefined {
  if (notice.kind !== "settled" || notice.header.kind !== "result" || !notice.header.extremes) return undefined;
  const { rows, weights, scores, uids } = notice.header.extremes;
  return {
    rows,
    weights: weights.map(short),
    ...(scores && { scores: scores.map(short) }),
    ...(uids && { uids }),
  };
}

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null);
/** A number with the digits that a chart or table can show. */
const short = (value: number): number => Number(Number(value).toPrecision(6));

function rounded<T extends object>(numbers: T): T {
  return Object.fromEntries(Object.entries(numbers).map(([name, n]) => [name, short(n as number)])) as T;
}
