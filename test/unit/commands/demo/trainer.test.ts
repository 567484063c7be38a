import { describe, expect, test } from "vitest";
import { type StepOutcome, trainLoop, unweightedStep } from "../../../../src/commands/demo/loop.js";
import { createTrainer, type Rollout } from "../../../../src/commands/demo/trainer.js";

const ones = (rollout: Rollout): Float32Array => new Float32Array(rollout.rows * rollout.width).fill(1);

const unweightedRun = ({ steps, seed }: { steps: number; seed: number }): StepOutcome[] => {
  const trainer = createTrainer(seed);
  return Array.from({ length: steps }, (_, i) => unweightedStep(trainer, i + 1));
};

describe("rollout", () => {
  const rollout = createTrainer(1).rollout(1);

  test("holds groups of eight, a prefix mask and one reward on the last token", () => {
    expect(rollout.rows % 8).toBe(0);
    expect(new Set(rollout.uid).size).toBe(rollout.rows / 8);
    for (let row = 0; row < rollout.rows; row++) {
      const length = rollout.lengths[row]!;
      const cells = Array.from({ length: rollout.width }, (_, t) => row * rollout.width + t);
      expect(cells.map((at) => rollout.response_mask[at])).toEqual(cells.map((_, t) => (t < length ? 1 : 0)));
      expect(cells.map((at) => rollout.rm_scores[at])).toEqual(
        cells.map((_, t) => (t === length - 1 ? rollout.rewards[row] : 0)),
      );
      expect(cells.every((at, t) => t < length || rollout.old_log_probs[at] === 0)).toBe(true);
    }
  });

  test("is the same for the same seed and step, and another for others", () => {
    expect(createTrainer(1).rollout(1)).toEqual(rollout);
    expect(createTrainer(2).rollout(1).responses).not.toEqual(rollout.responses);
    expect(createTrainer(1).rollout(2).responses).not.toEqual(rollout.responses);
  });
});

describe("update", () => {
  test("absent weights are ones; the parameters follow from the weights alone", () => {
    const runs = [undefined, ones, ones].map((weigh) => {
      const trainer = createTrainer(5);
      for (let step = 1; step <= 5; step++) {
        const rollout = trainer.rollout(step);
        trainer.update(rollout, weigh?.(rollout));
      }
      return trainer.policy.hash();
    });
    expect(new Set(runs).size).toBe(1);
  });

  test("weights of zero leave the policy as it was; another weight moves it elsewhere", () => {
    const trainer = createTrainer(5);
    const fresh = trainer.policy.hash();
    const rollout = trainer.rollout(1);
    trainer.update(rollout, new Float32Array(rollout.rows * rollout.width));
    expect(trainer.policy.hash()).toBe(fresh);
    trainer.update(rollout, ones(rollout));
    const other = createTrainer(5);
    const half = ones(rollout);
    half[rollout.advantages.findIndex((a) => a !== 0)] = 0.5;
    other.update(rollout, half);
    expect(other.policy.hash()).not.toBe(trainer.policy.hash());
  });

  test("a step along its gradient raises the probability of what was rewarded", () => {
    const trainer = createTrainer(5);
    const rollout = trainer.rollout(1);
    const row = rollout.rewards.indexOf(1);
    expect(row).toBeGreaterThanOrEqual(0);
    const likelihood = (): number =>
      trainer.policy.evaluate(rollout.tasks[row]!, rollout.responses[row]!).logProbs.reduce((a, b) => a + b, 0);
    const before = likelihood();
    trainer.update(rollout);
    expect(likelihood()).toBeGreaterThan(before);
  });
});

describe("training", () => {
  test.each([1, 2, 3])("learns without weights, seed %i: the last ten steps beat the first ten", (seed) => {
    const rewards = unweightedRun({ steps: 40, seed }).map((step) => step.reward);
    const sum = (values: number[]): number => values.reduce((a, b) => a + b, 0);
    expect(sum(rewards.slice(-10))).toBeGreaterThan(sum(rewards.slice(0, 10)) + 3);
  });

  test("the loop with unit weights is the unweighted run", async () => {
    const unweighted = unweightedRun({ steps: 6, seed: 4 });
    const seen = [];
    for await (const { step, reward, params_sha256 } of trainLoop({ steps: 6, seed: 4 }, async (rollout) => ({
      weights: ones(rollout),
      extra: null,
    }))) {
      seen.push({ step, reward, params_sha256 });
    }
    expect(seen).toEqual(unweighted);
  });
});
