import { fileURLToPath } from "node:url";
import type { Shape } from "./rollouts.js";

export const PLUGINS = {
  slowing: fileURLToPath(new URL("./plugins/slowing.ts", import.meta.url)),
  orphan: fileURLToPath(new URL("./plugins/orphan.ts", import.meta.url)),
};

/** Pictures begin where every run has made so many steps. */
export const FIRST_STEPS = 20;
/** Step at which an illness begins; steps take about a second. */
export const WELL_STEPS = 90;

export interface Scenario {
  /** Run id, and the picture's file name. */
  readonly name: string;
  /** Below the picture's title. */
  readonly says: string;
  /** Titles of panels, of all dashboards; absent: the whole training dashboard. */
  readonly panels?: readonly string[];
  readonly dataflex: object;
  /** `ill`: steps since the illness began, 0 before. */
  shape(ill: number): Shape;
  /** Its workers are ended when the illness begins. */
  readonly losesWorkers?: true;
}

const WELL = { math: 0.4, code: 0.55, logic: 0.7 };
const well = (): Shape => ({ solves: WELL });
const reweight = (actuator: object, more: object = {}) => ({
  mechanism: "reweight",
  scorer: { name: "advantage_magnitude" },
  actuator,
  ...more,
});
const SOFTMAX = { name: "softmax", params: { temperature: 1 } };
const SIGNAL = ["Effective sample size", "What is wrong", "Quantiles and extremes of weights"];

/** One run that is well, and runs that fall ill with one thing each. */
export const SCENARIOS: readonly Scenario[] = [
  {
    name: "healthy",
    says: "a reweighter, a selector in its shadow and a mixer, on rewards of three domains",
    dataflex: {
      pipelines: {
        weigh: reweight(SOFTMAX),
        trial: {
          mechanism: "select",
          scorer: { name: "group_solve_rate" },
          actuator: { name: "threshold_band", params: { low: 0.2, high: 0.8 } },
          shadow: true,
        },
        mix: { mechanism: "mix", actuator: { name: "reward_gap", params: {} }, domains: Object.keys(WELL) },
      },
      clip: [0.5, 2],
    },
    shape: well,
  },
  {
    name: "collapsed",
    says: "from the line on, one row of 128 has an advantage of 30",
    panels: [...SIGNAL, "Mean and deviation of weights", "Distribution of weights", "Distribution of scores"],
    dataflex: reweight(SOFTMAX),
    shape: (ill) => ({ solves: WELL, ...(ill > 0 && { outlier: 30 }) }),
  },
  {
    name: "nothing-kept",
    says: "from the line on, the policy learns until it solves every prompt, and the band lets nothing through",
    panels: [
      "Kept, zero and clipped",
      "What is wrong",
      "Scores",
      "Distribution of scores",
      "Distribution of weights",
      "Steps by outcome",
    ],
    dataflex: {
      mechanism: "select",
      scorer: { name: "group_solve_rate" },
      actuator: { name: "threshold_band", params: { low: 0.2, high: 0.8 } },
    },
    shape: (ill) => {
      const solve = 1 - 0.5 * Math.exp(-ill / 25);
      return { solves: { math: solve, code: solve, logic: solve } };
    },
  },
  {
    name: "constant-scores",
    says: "from the line on, the reward model answers 0 whatever it reads",
    panels: [
      "Scores",
      "What is wrong",
      "Distribution of scores",
      "Distribution of weights",
      "Effective sample size",
      "Mean and deviation of weights",
    ],
    dataflex: reweight(SOFTMAX),
    shape: (ill) => ({ solves: WELL, flat: ill > 0 }),
  },
  {
    name: "mean-drift",
    says: "from the line on, advantages grow and nobody normalises the weights that follow them",
    panels: [
      "Mean and deviation of weights",
      "What is wrong",
      "Quantiles and extremes of weights",
      "Effective sample size",
      "Distribution of weights",
      "Scores",
    ],
    dataflex: {
      ...reweight({ name: "awr", params: { standardize: false, clip: 20 } }, { normalize: "none" }),
      scorer: { name: "signed_advantage" },
    },
    shape: (ill) => ({ solves: WELL, scale: 1 + Math.min(2, ill / 20) }),
  },
  {
    name: "falling-back",
    says: "from the line on, the scorer takes 0.9 s a step, later 4 s; the trainer waits 2 s at most",
    panels: [
      "Wait and hidden time per step",
      "Duration of a step",
      "Steps by outcome",
      "Steps per minute",
      "Failures by reason",
      "Slots in use",
    ],
    dataflex: {
      ...reweight(SOFTMAX),
      scorer: {
        name: "slowing",
        params: {
          from: [
            [0, 20],
            [WELL_STEPS, 900],
            [WELL_STEPS + 60, 4_000],
          ],
        },
      },
      max_wait_ms: 2_000,
      on_unavailable: "neutral",
    },
    shape: well,
  },
  {
    name: "no-worker",
    says: "at the line, the only worker that has the run's scorer is stopped",
    panels: ["Slots", "Workers", "Oldest waiting job", "Jobs by state", "Steps per minute", "Current step"],
    dataflex: { ...reweight(SOFTMAX), scorer: { name: "orphan" }, max_wait_ms: 3_600_000 },
    shape: well,
    losesWorkers: true,
  },
];
