import type { Panel } from "./panel.js";
import { increase, latest, meanOf, quantile, rate, series, sumBy } from "./promql.js";

const PIPELINE = "{{run}} {{pipeline}}";
const NO_STEP = "no step of the chosen runs was settled in the time shown.";

const OUTCOMES = { applied: "green", fallback: "orange", expired: "red", failed: "red" } as const;

/** Scores, domains, outcomes and times of a run's steps: the lower half of the training dashboard. */
export const trainingSteps: readonly Panel[] = [
  {
    title: "Scores",
    description: "Mean and deviation of each pipeline's scores.",
    noData: NO_STEP,
    kind: "timeseries",
    unit: "short",
    queries: [
      {
        expr: latest(
          ["run", "pipeline", "scorer"],
          series("dataflex_score_mean", { run: "$run", pipeline: "$pipeline" }),
        ),
        legend: `mean ${PIPELINE} {{scorer}}`,
      },
      {
        expr: latest(
          ["run", "pipeline", "scorer"],
          series("dataflex_score_std", { run: "$run", pipeline: "$pipeline" }),
        ),
        legend: `deviation ${PIPELINE} {{scorer}}`,
      },
    ],
  },
  {
    title: "Steps by outcome",
    description:
      "Applied is good. Fallback steps trained without weights; failed and expired ones got none: look at the run's last failures.",
    noData: "no run was mounted in the time shown.",
    kind: "bars",
    unit: "short",
    colours: OUTCOMES,
    queries: [
      {
        expr: sumBy(["outcome"], increase(series("dataflex_steps_total", { run: "$run", stage: "$stage" }))),
        legend: "{{outcome}}",
      },
    ],
  },
  {
    title: "Shares of domains",
    description:
      "The shares in which a mixer proposes to draw the next prompts. If a share falls to the floor, the mixer has given up on that domain.",
    noData: "no chosen run mounts a mixer.",
    kind: "timeseries",
    unit: "percentunit",
    stacked: true,
    min: 0,
    max: 1,
    queries: [
      {
        expr: latest(["run", "domain"], series("dataflex_mix_proportion_ratio", { run: "$run", delivered: "true" })),
        legend: "{{run}} {{domain}}",
      },
    ],
  },
  {
    title: "Scores of domains",
    description: "Mean score of each domain's rows, by which a mixer judges.",
    noData: "no chosen run mounts a mixer with a scorer.",
    kind: "timeseries",
    unit: "short",
    queries: [
      {
        expr: latest(["run", "domain"], series("dataflex_mix_score_mean", { run: "$run" })),
        legend: "{{run}} {{domain}}",
      },
    ],
  },
  {
    title: "Wait and hidden time per step",
    description:
      "Wait is the time for which the trainer waited for weights; hidden is the time they took while the trainer worked. Much wait and little hidden: mount the scorer at an earlier stage, put earlier, or add workers.",
    noData: "no step was released in the time shown.",
    kind: "timeseries",
    unit: "s",
    queries: [
      { expr: meanOf("dataflex_trainer_wait_seconds", ["run"], { run: "$run" }), legend: "wait {{run}}" },
      { expr: meanOf("dataflex_trainer_hidden_seconds", ["run"], { run: "$run" }), legend: "hidden {{run}}" },
    ],
  },
  {
    title: "Duration of a step",
    description: "From a step's first put to its weights: median and 95th percentile.",
    noData: NO_STEP,
    kind: "timeseries",
    unit: "s",
    queries: [
      { expr: quantile(0.5, "dataflex_step_duration_seconds", ["stage"], { run: "$run" }), legend: "p50 {{stage}}" },
      { expr: quantile(0.95, "dataflex_step_duration_seconds", ["stage"], { run: "$run" }), legend: "p95 {{stage}}" },
    ],
  },
  {
    title: "Steps per minute",
    description: "Steps that settle per minute, by outcome.",
    noData: "no run was mounted in the time shown.",
    kind: "timeseries",
    unit: "short",
    queries: [
      {
        expr: `60 * ${sumBy(["run", "outcome"], rate(series("dataflex_steps_total", { run: "$run", delivered: "true" })))}`,
        legend: "{{run}} {{outcome}}",
      },
    ],
  },
  {
    title: "Non-finite rows",
    description:
      "Rows whose field or score was NaN or infinite. Anything but 0 means a broken signal or scorer, whatever on_nonfinite does about it.",
    noData: NO_STEP,
    kind: "bars",
    unit: "short",
    bands: [
      [0, "green"],
      [1, "red"],
    ],
    queries: [
      {
        expr: sumBy(
          ["run", "pipeline", "scorer"],
          increase(series("dataflex_weights_nonfinite_total", { run: "$run" })),
        ),
        legend: `${PIPELINE} {{scorer}}`,
      },
    ],
  },
];
