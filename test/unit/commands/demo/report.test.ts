import { expect, test } from "vitest";
import { type Exchange, stepRecord } from "../../../../src/commands/demo/demo-record.js";
import { trainLoop } from "../../../../src/commands/demo/loop.js";
import { progressLine, STEP_HEADING, stepLine, summaryText } from "../../../../src/commands/demo/report.js";
import { summarise } from "../../../../src/commands/demo/summary.js";
import { createTrainer } from "../../../../src/commands/demo/trainer.js";
import { summariseWeights } from "../../../../src/commands/demo/weighing.js";

const run = (rewards: number[], hash = "h"): { step: number; reward: number; params_sha256: string }[] =>
  rewards.map((reward, i) => ({ step: i + 1, reward, params_sha256: hash }));

test("weights are summed up over response tokens only", () => {
  const rollout = createTrainer(1).rollout(1);
  const weights = new Float32Array(rollout.rows * rollout.width).fill(99);
  for (let row = 0; row < rollout.rows; row++) {
    weights.fill(row % 2 === 0 ? 0 : 2, row * rollout.width, row * rollout.width + rollout.lengths[row]!);
  }
  const tokens = rollout.lengths.reduce((a, b) => a + b, 0);
  const odd = rollout.lengths.filter((_, row) => row % 2 === 1).reduce((a, b) => a + b, 0);
  const got = summariseWeights(weights, rollout);
  expect(got.mean).toBeCloseTo((2 * odd) / tokens, 12);
  expect(got.ess_ratio).toBeCloseTo(odd / tokens, 12);
  expect(got.kept_ratio).toBe(0.5);
  expect(summariseWeights(weights.fill(0), rollout)).toMatchObject({ mean: 0, std: 0, ess_ratio: 0, kept_ratio: 0 });
});

test("the step table lines up", () => {
  const weight = { mean: 1, std: 0.25, ess_ratio: 0.94, kept_ratio: 0.5 };
  const line = stepLine({ step: 7, reward: 0.125, weight, wait_ms: 3.21 });
  expect(line).toBe("     7   0.125     1.000 ± 0.250       94%    50%      3.2");
  expect(line.length).toBe(STEP_HEADING.split("\n")[0]!.length);
  expect(progressLine(5, 10, 0.5)).toContain("############............");
});

test("the summary says what happened: helped, no difference, hurt", () => {
  const low = run([0, 0, 0.5, 0.5]);
  const high = run([0, 0.2, 0.9, 0.9], "g");
  expect(summarise(high, low, 1)).toMatchObject({ window: 2, verdict: "helped", weighted: { first: 0.1, last: 0.9 } });
  expect(summaryText(summarise(high, low, 1))).toContain("Weighting helped");
  expect(summaryText(summarise(low, high, 1))).toContain("did not help");
  expect(summaryText(summarise(low, low, 1))).toMatch(/no difference[\s\S]*are the same/);
  expect(summaryText(summarise(run([0, 0.9, 1, 1]), run([0, 0, 1, 1]), 1))).toContain("whole run it earned more");
});

test("a step's record holds every posted tensor and every weight received, row by row", async () => {
  const exchange = (rows: number): Exchange => ({
    posted: { post_reward: ["rm_scores", "uid"], post_advantage: ["old_log_probs"] },
    pipelines: [
      {
        name: "p",
        mechanism: "select",
        stage: "post_reward",
        weights: new Float32Array(rows).fill(1),
        kept: Int32Array.of(0, 1),
        flags: [],
        producer: { worker: "w", pid: 1, job_id: "j" },
      },
    ],
    wait_ms: 1,
  });
  for await (const result of trainLoop({ steps: 1, seed: 1 }, async (rollout) => ({
    weights: new Float32Array(rollout.rows * rollout.width).fill(1),
    extra: exchange(rollout.rows),
  }))) {
    const record = JSON.parse(JSON.stringify(stepRecord(result)));
    const lengths = Array.from(result.rollout.lengths);
    expect(record.posted.post_reward.rm_scores.map((row: number[]) => row.length)).toEqual(lengths);
    expect(record.posted.post_reward.rm_scores.map((row: number[]) => row.at(-1))).toEqual(result.rollout.rewards);
    expect(record.posted.post_reward.uid).toEqual(result.rollout.uid);
    expect(record.posted.post_advantage.old_log_probs[0][0]).toBeCloseTo(-Math.log(5), 6);
    expect(record.received[0]).toMatchObject({ name: "p", kept: [0, 1], producer: { job_id: "j" } });
    expect(record.received[0].weights).toHaveLength(result.rollout.rows);
    expect(record.combined.map((row: number[]) => row.length)).toEqual(lengths);
  }
});
