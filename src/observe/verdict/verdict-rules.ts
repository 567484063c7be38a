import type { WeightStats } from "../../protocol/statistics-messages.js";
import type { FailureRecord, ReleaseRecord, ResultRecord } from "../history/history-record.js";
import { COMBINED, type ReasonKind, type SickLevel } from "./verdict-types.js";

/** Numbers that a healthy run stays within; charts draw the same lines. */
export const BOUNDS = {
  /** Effective sample size among the elements that weigh, as a share of them. */
  ess: { warn: 0.3, bad: 0.1 },
  kept: 0.05,
  /** Mean weight of the elements that weigh. */
  mean: { warn: [0.5, 2], bad: [0.2, 5] },
  largest: 0.25,
  nonfinite: 0.05,
  wait: 0.2,
} as const;
/** Early in training most groups may be unsolved, and scores constant, without anything being wrong. */
const EARLY_STEPS = 20;
/** A shorter wait costs nobody, whatever its share: a loop that does nothing else always waits. */
const SHORT_WAIT_MS = 1_000;
/** Of fewer elements a share says nothing. */
const FEW = 16;

/** The weights of one step: those that the loss takes (COMBINED), or one delivered pipeline's. */
export interface JudgedWeights {
  readonly pipeline: string;
  readonly step: number;
  readonly level: "row" | "token";
  readonly stats: WeightStats;
}
/** A step of a run as rules see it. */
export interface Sight {
  readonly step: number;
  readonly release: ReleaseRecord | undefined;
  /** ms since the release before it. */
  readonly interval: number | undefined;
  readonly results: readonly ResultRecord[];
  /** Delivered pipelines that failed. */
  readonly failures: readonly FailureRecord[];
}

/** A level is reached when its condition held in so many steps running, or in more than `share` of the last `of`. */
export type Condition<T> = {
  readonly level: SickLevel;
  /** In a few words, for the page that lists the rules. */
  readonly when: string;
  readonly holds: (seen: T) => boolean;
} & ({ readonly running: number } | { readonly share: number; readonly of: number });

/** One thing that can be wrong with a run. */
export interface Rule<T> extends ReasonKind {
  readonly conditions: readonly Condition<T>[];
  /** The sentence behind "run R: " with the numbers of the step at which it held last. */
  readonly text: (seen: T) => string;
}

const percent = (share: number): string => `${Number((share * 100).toPrecision(2))} %`;
const short = (value: number): string => String(Number(value.toPrecision(3)));
const whose = ({ pipeline, step }: JudgedWeights): string =>
  pipeline === COMBINED
    ? `the weights that the loss takes at step ${step}`
    : `the weights of pipeline "${pipeline}" at step ${step}`;

/** Share of elements that weigh anything: what is left out by intent says nothing about how the rest is weighed. */
const weighing = ({ stats }: JudgedWeights): number => 1 - stats.zero_ratio;
const essOf = (w: JudgedWeights): number => Math.min(1, w.stats.ess_ratio / weighing(w));
const meanOf = (w: JudgedWeights): number => w.stats.mean / weighing(w);
const judges = (w: JudgedWeights): boolean => w.stats.n * weighing(w) >= FEW;
/** Of all the weight there is; a token's share says nothing about its row's. */
const largestOf = (w: JudgedWeights): number => (w.level === "row" ? w.stats.max / (w.stats.mean * w.stats.n) : 0);
const outside = (value: number, [low, high]: readonly [number, number]): boolean => value < low || value > high;

/** Rules about weights. */
export const WEIGHT_RULES: readonly Rule<JudgedWeights>[] = [
  {
    code: "few_rows",
    alerts: { warn: "WeightsConcentrated", bad: "WeightsCollapsed" },
    title: "few rows or tokens carry the whole update",
    fix: "soften the reweighter (a higher temperature), or set a clip",
    runbook: "a-few-rows-carry-the-whole-update",
    conditions: [
      {
        level: "warn",
        running: 3,
        when: "E < 0.3, of 16 or more",
        holds: (w) => judges(w) && essOf(w) < BOUNDS.ess.warn,
      },
      {
        level: "bad",
        running: 3,
        when: "E < 0.1, of 16 or more",
        holds: (w) => judges(w) && essOf(w) < BOUNDS.ess.bad,
      },
    ],
    text: (w) => `${whose(w)} have an effective sample of ${percent(essOf(w))} among what weighs at all`,
  },
  {
    code: "nothing_kept",
    alerts: { warn: "LittleKept", bad: "NothingKept" },
    title: "next to nothing is kept",
    fix: "widen the selector, or look whether every group is solved or failed by now",
    runbook: "nothing-is-kept",
    conditions: [
      { level: "warn", running: 3, when: "kept share < 5 %", holds: ({ stats }) => stats.kept_ratio < BOUNDS.kept },
      { level: "warn", running: 1, when: "nothing kept", holds: ({ stats }) => stats.kept_ratio === 0 },
      { level: "bad", running: 3, when: "nothing kept", holds: ({ stats }) => stats.kept_ratio === 0 },
      {
        level: "bad",
        running: 3,
        when: "kept share < 5 %, after step 20",
        holds: ({ stats, step }) => step > EARLY_STEPS && stats.kept_ratio < BOUNDS.kept,
      },
    ],
    text: (w) =>
      w.stats.kept_ratio === 0
        ? `${whose(w)} are all 0`
        : `${whose(w)} keep ${percent(w.stats.kept_ratio)} of the rows`,
  },
  {
    code: "mean",
    alerts: { warn: "WeightMeanDrift", bad: "WeightMeanFarOff" },
    title: "the mean weight changes the learning rate",
    fix: "set normalize or rescale to row or token, unless the scale is meant",
    runbook: "the-mean-of-the-weights-drifts",
    conditions: [
      {
        level: "warn",
        running: 3,
        when: "m outside 0.5–2",
        holds: (w) => weighing(w) > 0 && outside(meanOf(w), BOUNDS.mean.warn),
      },
      {
        level: "bad",
        running: 3,
        when: "m outside 0.2–5",
        holds: (w) => weighing(w) > 0 && outside(meanOf(w), BOUNDS.mean.bad),
      },
    ],
    text: (w) => `${whose(w)} have a mean of ${short(meanOf(w))}: it multiplies the learning rate`,
  },
  {
    code: "one_row",
    alerts: { warn: "OneRowDominates" },
    title: "one row has a large share of all weight",
    fix: "clip the reweighter, or look at the row: the live page lists the highest",
    runbook: "a-few-rows-carry-the-whole-update",
    conditions: [
      {
        level: "warn",
        running: 3,
        when: "one row's share of all weight > 25 %, of 16 or more",
        holds: (w) => judges(w) && largestOf(w) > BOUNDS.largest,
      },
    ],
    text: (w) => `one row has ${percent(largestOf(w))} of ${whose(w)}`,
  },
];

const nonfiniteShare = (r: ResultRecord): number =>
  r.flags.includes("neutral_nonfinite") ? 1 : (r.metrics.rows_dropped_nonfinite ?? 0) / Math.max(1, r.rows);
const worstNonfinite = ({ results, failures }: Sight): number =>
  failures.some(({ code }) => code === "NON_FINITE") ? 1 : Math.max(0, ...results.map(nonfiniteShare));
/** Steps without weights that this one speaks of: itself, and those whose own release was lost. */
const withoutWeights = ({ release, failures }: Sight): number =>
  (release?.unreported ?? 0) + (release?.neutral !== undefined || failures.length > 0 ? 1 : 0);
const lacksWeights = (seen: Sight): boolean => withoutWeights(seen) > 0;
const isConstant = ({ mechanism, score_stats: s }: ResultRecord): boolean =>
  mechanism !== "mix" && s !== undefined && s.n > 1 && s.std === 0;
const waitShare = ({ release, interval }: Sight): number =>
  release?.wait_ms && interval && release.wait_ms >= SHORT_WAIT_MS ? release.wait_ms / interval : 0;

/** Rules about steps as a whole. */
export const STEP_RULES: readonly Rule<Sight>[] = [
  {
    code: "no_weights",
    alerts: { warn: "StepWithoutWeights", bad: "TrainsWithoutWeights" },
    title: "steps get no weights",
    fix: "dataflex-mq status RUN   names what was missing: more workers, a longer max_wait_ms, a scorer that fails",
    runbook: "steps-get-no-weights",
    conditions: [
      { level: "warn", running: 1, when: "without weights", holds: lacksWeights },
      { level: "bad", running: 3, when: "without weights", holds: lacksWeights },
      {
        level: "bad",
        running: 1,
        when: "one release that reports three or more",
        holds: (seen) => withoutWeights(seen) >= 3,
      },
      { level: "bad", share: 0.2, of: 50, when: "without weights", holds: lacksWeights },
    ],
    text: ({ step, release, failures: [failed] }) => {
      const lost = release?.unreported ? `${release.unreported} steps before step ${step} trained without weights` : "";
      const neutral = release?.neutral && `step ${step} trained without weights (${release.neutral})`;
      const failure = failed && `step ${step} got no weights: ${failed.code} in pipeline "${failed.pipeline}"`;
      return [neutral ?? failure ?? "", lost].filter(Boolean).join("; ");
    },
  },
  {
    code: "nonfinite",
    alerts: { warn: "ValueNotFinite", bad: "ValuesNotFinite" },
    title: "values are NaN or infinite",
    fix: "dataflex-mq status RUN   names field and row; fix the signal or the scorer",
    runbook: "values-are-nan-or-infinite",
    conditions: [
      { level: "warn", running: 1, when: "any row not finite", holds: (s) => worstNonfinite(s) > 0 },
      {
        level: "bad",
        running: 3,
        when: "≥ 5 % of the rows not finite",
        holds: (s) => worstNonfinite(s) >= BOUNDS.nonfinite,
      },
    ],
    text: (s) => `${percent(worstNonfinite(s))} of the rows of step ${s.step} had values that are not finite`,
  },
  {
    code: "constant_scores",
    alerts: { warn: "ScoresConstant" },
    title: "the scorer gives every row the same score",
    fix: "look at the scorer's field: it says nothing about which row is worth more",
    runbook: "a-scorer-gives-every-row-the-same-score",
    conditions: [
      {
        level: "warn",
        running: 5,
        when: "score deviation 0, after step 20",
        holds: ({ step, results }) => step > EARLY_STEPS && results.some(isConstant),
      },
    ],
    text: ({ step, results }) =>
      `pipeline "${results.find(isConstant)?.pipeline}" scored every row of step ${step} alike`,
  },
  {
    code: "waits",
    alerts: { warn: "TrainerWaits" },
    title: "the trainer waits for weights",
    fix: "add workers, put fields earlier, or collect the weights later in the step",
    runbook: "the-trainer-waits-for-its-weights",
    conditions: [
      {
        level: "warn",
        running: 10,
        when: "wait > 1 s and > 20 % of the time between two steps",
        holds: (s) => waitShare(s) > BOUNDS.wait,
      },
    ],
    text: (s) => `the trainer stood still for ${percent(waitShare(s))} of step ${s.step}, waiting for its weights`,
  },
];
