import { expect, test } from "vitest";
import { MAX_RESPONSE, Policy } from "../../../../src/commands/demo/demo-policy.js";
import { END } from "../../../../src/commands/demo/tasks.js";
import { seededRng } from "../../../../src/scoring/batch/rng.js";

const task = { kind: "swap", length: 2, start: 1 } as const;

function scramble(policy: Policy, seed: number): void {
  const rng = seededRng(seed);
  for (let i = 0; i < policy.params.length; i++) policy.params[i] = 2 * rng() - 1;
}

test("a fresh policy is uniform over the five symbols", () => {
  const { logProbs, entropies } = new Policy().evaluate(task, [0, 1, END]);
  for (const x of logProbs) expect(x).toBeCloseTo(-Math.log(5), 12);
  for (const h of entropies) expect(h).toBeCloseTo(Math.log(5), 12);
});

test("the gradient equals central differences of the log-probability", () => {
  const policy = new Policy();
  scramble(policy, 3);
  const response = [2, 0, END];
  const gradient = new Float64Array(policy.params.length);
  for (let t = 0; t < response.length; t++) policy.addLogProbGradient(gradient, task, response, t, t + 0.5);
  const objective = (): number => {
    const { logProbs } = policy.evaluate(task, response);
    return logProbs.reduce((sum, lp, t) => sum + (t + 0.5) * lp, 0);
  };
  const step = 1e-5;
  for (let i = 0; i < policy.params.length; i++) {
    const at = policy.params[i]!;
    policy.params[i] = at + step;
    const up = objective();
    policy.params[i] = at - step;
    const down = objective();
    policy.params[i] = at;
    expect(gradient[i]).toBeCloseTo((up - down) / (2 * step), 7);
  }
});

test("samples follow the probabilities, end with the end symbol or are cut", () => {
  const policy = new Policy();
  scramble(policy, 9);
  const rng = seededRng(4);
  const counts = new Array<number>(5).fill(0);
  const lengths = new Set<number>();
  const n = 20_000;
  for (let i = 0; i < n; i++) {
    const response = policy.sample(task, rng);
    counts[response[0]!]! += 1;
    lengths.add(response.length);
    const end = response.indexOf(END);
    if (end === -1 ? response.length !== MAX_RESPONSE : end !== response.length - 1) throw new Error(`${response}`);
  }
  expect(lengths.size).toBe(MAX_RESPONSE);
  for (let a = 0; a < 5; a++) {
    const probability = Math.exp(policy.evaluate(task, [a]).logProbs[0]!);
    expect(Math.abs(counts[a]! / n - probability)).toBeLessThan(0.02); // > 5 deviations
  }
});

test("an underflowing probability breaks neither entropy nor sampling", () => {
  const policy = new Policy();
  policy.params.fill(0);
  const gradient = new Float64Array(policy.params.length);
  policy.addLogProbGradient(gradient, task, [0], 0, 1);
  const first = gradient.findIndex((x) => x > 0);
  policy.params[first] = 2000; // the other four symbols underflow to probability 0
  const { logProbs, entropies } = policy.evaluate(task, [0]);
  expect(logProbs[0]).toBe(0);
  expect(entropies[0]).toBe(0);
  expect(policy.sample(task, () => 1 - 2 ** -32)[0]).toBe(0);
});

test("the hash follows the parameters, all of them", () => {
  const policy = new Policy();
  const fresh = policy.hash();
  expect(new Policy().hash()).toBe(fresh);
  policy.params[policy.params.length - 1] = Number.MIN_VALUE;
  expect(policy.hash()).not.toBe(fresh);
});
