import type { StepPlan } from "../plan/step-plan.js";
import { type DomainStep, expectedWeights, rewardGap, STATIC_SHARES } from "./reference.js";

/** `run.weights` as a producer process reports it. */
export interface Answer {
  readonly pipelines: Readonly<
    Record<
      string,
      { readonly weights: readonly number[]; readonly proportions: Readonly<Record<string, number>> | null }
    >
  >;
  readonly combined: readonly number[];
  /** Of the rows of all weights, in their order; null where they were put without keys. */
  readonly keys: readonly string[] | null;
}

/** Weights travel as float32. */
const TOLERANCE = 2e-5;

/** What is wrong with the answer, in words; `undefined` when it is right. `histories`: what a mixer may have remembered. */
export function wrongWith(
  plan: StepPlan,
  answer: Answer,
  histories: readonly (readonly DomainStep[])[],
): string | undefined {
  const weighing = Object.keys(answer.pipelines).filter((name) => name in expectedWeights);
  const order = answer.keys ?? plan.content.keys;
  if (order.toSorted().join() !== plan.content.keys.toSorted().join()) return `keys: ${order.join(" ")}`;
  const expected = (name: string): number[] => inOrder(expectedWeights[name]!(plan.content), plan.content.keys, order);
  for (const name of weighing) {
    const problem = differ(answer.pipelines[name]!.weights, expected(name));
    if (problem) return `pipeline ${name}: ${problem}`;
  }
  if (weighing.length > 0) {
    const wanted = weighing.map(expected);
    const product = wanted.reduce((a, b) => a.map((w, i) => w * b[i]!));
    const problem = differ(answer.combined, product);
    if (problem) return `combined: ${problem}`;
  }
  const { mix, fixed } = answer.pipelines;
  if (fixed) {
    const problem = differ(Object.values(fixed.proportions ?? {}), STATIC_SHARES);
    if (problem) return `pipeline fixed: ${problem}`;
  }
  if (mix) {
    const shares = Object.values(mix.proportions ?? {});
    const problems = histories.map((history) => differ(shares, rewardGap(history)));
    if (problems.every((problem) => problem !== undefined)) return `pipeline mix: ${problems[0]}`;
  }
  return undefined;
}

/** Values of one number or one row of numbers per key, in the order of other keys. */
function inOrder(values: readonly number[], keys: readonly string[], order: readonly string[]): number[] {
  const width = values.length / keys.length;
  return order.flatMap((key) => values.slice(keys.indexOf(key) * width, (keys.indexOf(key) + 1) * width));
}

function differ(got: readonly number[], want: readonly number[]): string | undefined {
  if (got.length !== want.length) return `${got.length} values instead of ${want.length}`;
  const at = got.findIndex((value, i) => !(Math.abs(value - want[i]!) <= TOLERANCE));
  return at < 0 ? undefined : `value ${at} is ${got[at]}, should be ${want[at]}`;
}
