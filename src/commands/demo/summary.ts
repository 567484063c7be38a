import { meanOf, type StepOutcome } from "./loop.js";

/** The summary shows means over this many first and last steps (fewer when the run is shorter than twice as long). */
const WINDOW = 10;

/** How one run fared: mean reward of its first and last steps, and over all of them. */
export interface RunSummary {
  readonly first: number;
  readonly last: number;
  readonly overall: number;
  readonly params_sha256: string;
}

export interface DemoSummary {
  readonly steps: number;
  readonly seed: number;
  /** Steps that `first` and `last` are means of. */
  readonly window: number;
  readonly weighted: RunSummary;
  readonly unweighted: RunSummary;
  readonly verdict: Verdict;
}

/** Which run earned more reward over the last steps, by more than `TIE`. */
export type Verdict = "helped" | "same" | "hurt";

/** Rewards are means of 0/1 outcomes; a smaller difference than this is noise of the sampling, not an effect. */
const TIE = 0.01;

export function summarise(
  weighted: readonly StepOutcome[],
  unweighted: readonly StepOutcome[],
  seed: number,
): DemoSummary {
  const steps = weighted.length;
  const window = Math.max(1, Math.min(WINDOW, Math.floor(steps / 2)));
  const a = summariseRun(weighted, window);
  const b = summariseRun(unweighted, window);
  const gain = a.last - b.last;
  const verdict = Math.abs(gain) <= TIE ? "same" : gain > 0 ? "helped" : "hurt";
  return { steps, seed, window, weighted: a, unweighted: b, verdict };
}

function summariseRun(run: readonly StepOutcome[], window: number): RunSummary {
  const rewards = run.map((step) => step.reward);
  return {
    first: meanOf(rewards.slice(0, window)),
    last: meanOf(rewards.slice(-window)),
    overall: meanOf(rewards),
    params_sha256: run.at(-1)?.params_sha256 ?? "",
  };
}
