import type { Dashboard } from "./panel.js";
import { bucket, latest, series, sumBy } from "./promql.js";
import { trainingSteps } from "./training-steps.js";

const OF = { run: "$run", pipeline: "$pipeline", stage: "$stage" } as const;
const WHO = ["run", "pipeline", "level"] as const;
const PIPELINE = "{{run}} {{pipeline}}";
const NO_STEP = "no step of the chosen runs was settled in the time shown.";

/** Is training getting healthy weights? */
export const training: Dashboard = {
  uid: "dataflex-training",
  title: "dataflex-mq: training signal",
  description: "What the weights of each run and pipeline look like, step by step.",
  variables: [
    { name: "run", query: `label_values(${series("dataflex_run_step")}, run)` },
    { name: "stage", query: `label_values(${series("dataflex_steps_total", { run: "$run" })}, stage)` },
    { name: "pipeline", query: `label_values(${series("dataflex_weight_mean", { run: "$run" })}, pipeline)` },
  ],
  panels: [
    {
      title: "Current step",
      description: "Latest step that the trainer has released, that is, trained on.",
      noData: "no run was mounted in the time shown, or its trainer never releases its steps.",
      kind: "stat",
      unit: "none",
      width: 6,
      queries: [
        { expr: latest(["run"], series("dataflex_run_step", { run: "$run", point: "applied" })), legend: "{{run}}" },
      ],
    },
    {
      title: "What is wrong",
      description:
        "The run's verdict, as the live page and `dataflex-mq status` say it: 1 wants a look, 2 wants somebody to act. Each reason has an alert.",
      noData: NO_STEP,
      kind: "table",
      unit: "short",
      width: 18,
      bands: [
        [0, "green"],
        [1, "orange"],
        [2, "red"],
      ],
      queries: [
        {
          expr: latest(["run", "code"], series("dataflex_run_verdict_level", { run: "$run" })),
          legend: "{{run}} {{code}}",
        },
      ],
    },
    {
      title: "Effective sample size",
      description:
        "Share of the batch that effectively counts under these weights: 1 is uniform. Below 0.3 a few rows dominate the update, below 0.1 most of the batch contributes no gradient. For a selection it equals the kept share.",
      noData: NO_STEP,
      kind: "timeseries",
      unit: "percentunit",
      min: 0,
      max: 1,
      bands: [
        [0, "red"],
        [0.1, "orange"],
        [0.3, "green"],
      ],
      queries: [{ expr: latest(WHO, series("dataflex_weight_ess_ratio", OF)), legend: PIPELINE }],
    },
    {
      title: "Kept, zero and clipped",
      description:
        "Rows that keep any weight, weights that are exactly 0, and composed weights that clip moved to its bound.",
      noData: NO_STEP,
      kind: "timeseries",
      unit: "percentunit",
      min: 0,
      max: 1,
      queries: [
        { expr: latest(WHO, series("dataflex_weight_kept_ratio", OF)), legend: `kept ${PIPELINE}` },
        { expr: latest(WHO, series("dataflex_weight_zero_ratio", OF)), legend: `zero ${PIPELINE}` },
        {
          expr: latest(["run", "side"], series("dataflex_weight_clipped_ratio", { run: "$run" })),
          legend: "clipped {{side}} {{run}}",
        },
      ],
    },
    {
      title: "What components counted",
      description:
        "Rows and tokens by the reason for which they were dropped, vetoed or held, and stale rows, of the last step. Most stale or vetoed: sampler and trainer drift apart.",
      noData: "no component of the chosen runs counts anything.",
      kind: "timeseries",
      unit: "short",
      min: 0,
      queries: [
        {
          expr: latest(
            ["run", "pipeline", "count"],
            series("dataflex_component_counts", { run: "$run", pipeline: "$pipeline" }),
          ),
          legend: "{{count}} {{run}} {{pipeline}}",
        },
      ],
    },
    {
      title: "Mean and deviation of weights",
      description:
        "A reweighter's mean is 1 unless normalize is none; another mean changes the effective learning rate. A deviation above 1 is a heavy tail.",
      noData: NO_STEP,
      kind: "timeseries",
      unit: "short",
      queries: [
        { expr: latest(WHO, series("dataflex_weight_mean", OF)), legend: `mean ${PIPELINE}` },
        { expr: latest(WHO, series("dataflex_weight_std", OF)), legend: `deviation ${PIPELINE}` },
      ],
    },
    {
      title: "Quantiles and extremes of weights",
      description:
        "The shape of the weights. A maximum that runs away from the 0.99 quantile is a single row; a median that sinks to 0 means that most rows get no weight.",
      noData: NO_STEP,
      kind: "timeseries",
      unit: "short",
      log: true,
      queries: [
        { expr: latest([...WHO, "q"], series("dataflex_weight_quantile", OF)), legend: `q{{q}} ${PIPELINE}` },
        { expr: latest(WHO, series("dataflex_weight_max", OF)), legend: `max ${PIPELINE}` },
        { expr: latest(WHO, series("dataflex_weight_min", OF)), legend: `min ${PIPELINE}` },
      ],
    },
    {
      title: "Distribution of weights",
      description:
        "Published weights over time. A healthy reweighter is a band around 1; two bands at 0 and above are a selection.",
      noData: NO_STEP,
      kind: "heatmap",
      unit: "short",
      queries: [
        {
          expr: sumBy(["le"], `increase(${bucket("dataflex_weight_value", OF)}[$__rate_interval])`),
          legend: "{{le}}",
        },
      ],
    },
    {
      title: "Distribution of scores",
      description:
        "Scores before the actuator. A single stripe means a constant score, which makes every weight the same: the scorer is broken, or its signal is.",
      noData: NO_STEP,
      kind: "heatmap",
      unit: "short",
      queries: [
        {
          expr: sumBy(
            ["le"],
            `increase(${bucket("dataflex_score_value", { run: "$run", pipeline: "$pipeline" })}[$__rate_interval])`,
          ),
          legend: "{{le}}",
        },
      ],
    },
    ...trainingSteps,
  ],
};
