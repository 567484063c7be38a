import { describe, expect, test } from "vitest";
import { difficultyPool } from "../../../../../src/scoring/components/policies/difficulty-pool.js";
import { learnabilityPool } from "../../../../../src/scoring/components/policies/learnability-pool.js";
import { runPolicy } from "../../../../../src/testing.js";

/** Four responses a prompt; the prompt's name is how many of them were solved. */
function step(...solved: number[]) {
  const rows = solved.flatMap((k) => [0, 1, 2, 3].map((i) => ({ key: `q${k}`, reward: Number(i < k) })));
  return {
    dataset_key: rows.map(({ key }) => key),
    uid: rows.map(({ key }) => key),
    response_mask: rows.map(() => [1]),
    rm_scores: rows.map(({ reward }) => [reward]),
  };
}
const KEYS = ["new", "q0", "q1", "q2", "q3", "q4"];

function expectWeights(have: Float32Array | undefined, want: readonly number[]): void {
  expect(have).toHaveLength(want.length);
  for (const [i, weight] of want.entries()) expect(have![i], `weight ${i}`).toBeCloseTo(weight, 6);
}

describe("difficulty_pool", () => {
  test("latest means unseen 0 .25 .5 .75 1", async () => {
    const choice = await runPolicy(difficultyPool, [step(0, 1, 2, 3, 4)], { dataset_key: KEYS });
    expectWeights(
      choice.weights?.values,
      [1, 0.2, 0.2, 1, 1, 0.2].map((weight) => weight / 3.6),
    );
    expect(choice.weights!.values[0]).toBeCloseTo(0.277778, 6);
    expect([...choice.kept]).toEqual([0, 1, 2, 3, 4, 5]);
  });

  test("the latest visit counts", async () => {
    const first = { ...step(4), dataset_key: Array(4).fill("a"), uid: Array(4).fill("a") };
    const second = { ...step(2), dataset_key: Array(4).fill("a"), uid: Array(4).fill("a") };
    const choice = await runPolicy(difficultyPool, [first, second], { dataset_key: ["a", "new"] });
    expectWeights(choice.weights?.values, [0.5, 0.5]);
  });

  test("only zero weights: equal ones", async () => {
    const params = { hard_weight: 0, unseen_weight: 0 };
    expectWeights(
      (await runPolicy(difficultyPool, [step(0)], { dataset_key: ["q0", "new"] }, params)).weights?.values,
      [0.5, 0.5],
    );
  });
});

describe("learnability_pool", () => {
  test("q (1 - q) without floor", async () => {
    const choice = await runPolicy(
      learnabilityPool,
      [step(0, 1, 2, 3, 4)],
      { dataset_key: KEYS.slice(1) },
      { floor: 0 },
    );
    expectWeights(choice.weights?.values, [0, 0.3, 0.4, 0.3, 0]);
  });

  test("unseen prompts count as half solved; the floor gives the others a chance", async () => {
    const choice = await runPolicy(learnabilityPool, [step(0, 2)], { dataset_key: ["new", "q2", "q0"] });
    expectWeights(choice.weights?.values, [0.3 / 0.65, 0.3 / 0.65, 0.05 / 0.65]);
  });
});
