/** How a run is: `warn` wants a look, `bad` wants somebody to act. */
export const VERDICT_LEVELS = ["ok", "warn", "bad"] as const;
export type VerdictLevel = (typeof VERDICT_LEVELS)[number];
export type SickLevel = Exclude<VerdictLevel, "ok">;

/** Name of what the loss takes, where pipelines are named. */
export const COMBINED = "_combined";

/** What can be wrong with a run, whichever run it is. */
export interface ReasonKind {
  readonly code: string;
  /** In a few words, for help and alerts. */
  readonly title: string;
  /** What to do: a line to type where there is one. */
  readonly fix: string;
  /** Heading of docs/operations.md, as an anchor. */
  readonly runbook: string;
  /** Names of its alerts, without the prefix, for the levels that it can have. */
  readonly alerts: Readonly<Partial<Record<SickLevel, string>>>;
  /** How long its alert waits, where a moment of it is nothing. */
  readonly patience?: string;
}

/** One thing that is wrong with a run. */
export interface Reason {
  /** A rule's code (`RULES`). */
  readonly code: string;
  readonly level: SickLevel;
  /** A sentence with numbers. */
  readonly text: string;
  /** What to do: a line to type where there is one. */
  readonly fix: string;
  /** The pipeline whose weights it is about, or COMBINED; absent where it is about the run. */
  readonly pipeline?: string;
  /** First step of the trouble; null where it is not of a step. */
  readonly since_step: number | null;
}

/** What is to be said of a run: page, `status`, banner, metrics and alerts all take it from here. */
export interface Verdict {
  /** The most severe level among the reasons. */
  readonly level: VerdictLevel;
  /** Where that level began; null where all is well, or the trouble is not of a step. */
  readonly since_step: number | null;
  /** Most severe first; empty where all is well. */
  readonly reasons: readonly Reason[];
}
