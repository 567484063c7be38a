import type { DemoSummary, RunSummary, Verdict } from "./summary.js";
import type { WeightSummary } from "./weighing.js";

/** What a line of the demo's table shows. */
export interface StepLine {
  readonly step: number;
  readonly reward: number;
  readonly weight: WeightSummary;
  readonly wait_ms: number;
}

/** Heading of the step table, and what its columns mean. */
export const STEP_HEADING = [
  "  step  reward   weight mean ± std     ESS   kept  wait ms",
  "  ----  ------  -------------------  -----  -----  -------",
].join("\n");

/** One line a step: reward, weights over tokens, effective sample size, kept rows, time the trainer waited. */
export function stepLine({ step, reward, weight, wait_ms }: StepLine): string {
  return [
    "",
    String(step).padStart(4),
    reward.toFixed(3).padStart(6),
    `${weight.mean.toFixed(3).padStart(8)} ± ${weight.std.toFixed(3).padEnd(8)}`,
    percent(weight.ess_ratio).padStart(5),
    percent(weight.kept_ratio).padStart(5),
    wait_ms.toFixed(1).padStart(7),
  ].join("  ");
}

/** A bar for terminals: how far the run is and how the reward stands. */
export function progressLine(step: number, steps: number, reward: number): string {
  const cells = 24;
  const done = Math.round((step / steps) * cells);
  return `  [${"#".repeat(done)}${".".repeat(cells - done)}] ${step}/${steps}  reward ${reward.toFixed(3)}`;
}

const VERDICTS = {
  helped: "Weighting helped: over the last steps this run earned more than the same run without weights.",
  same: "Weighting made no difference that shows in the reward of the last steps.",
  hurt: "Weighting did not help: the same run without weights earned more over the last steps.",
} as const satisfies Record<Verdict, string>;

/** The end of the demo: both runs side by side, and the conclusion. */
export function summaryText(summary: DemoSummary): string {
  const { window, weighted, unweighted, seed, steps, verdict } = summary;
  const same = weighted.params_sha256 === unweighted.params_sha256;
  const overall = weighted.overall - unweighted.overall;
  const sooner = verdict === "same" && Math.abs(overall) > 0.01;
  const aside = sooner ? ` Over the whole run it earned ${overall > 0 ? "more" : "less"}.` : "";
  return [
    `  mean reward              first ${window}  last ${window}  all ${steps}`,
    `  with weights         ${runCells(weighted)}`,
    `  without (same seed)  ${runCells(unweighted)}`,
    "",
    `  ${VERDICTS[verdict]}${aside}`,
    `  Final parameters ${same ? "are the same in both runs" : "differ between the runs"}. One seed (${seed}) is one sample: try others with --seed.`,
  ].join("\n");
}

function runCells(run: RunSummary): string {
  return [run.first, run.last, run.overall].map((x) => x.toFixed(3).padStart(10)).join("");
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)}%`;
}
