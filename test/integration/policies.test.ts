import type { Run } from "dataflex-mq";
import { describe, expect, test } from "vitest";
import { runKeys } from "../../src/redis/keys.js";
import { eventually, rejection } from "../helpers/eventually.js";
import { useSystem } from "../helpers/system.js";

const system = useSystem({ workers: [{ slots: 2 }] });
const policy = (name: string, params: object = {}) => ({ mechanism: "select", actuator: { name, params } });

/** Two responses a prompt, with the rewards given. */
function responses(prompts: Readonly<Record<string, readonly number[]>>) {
  const rows = Object.entries(prompts).flatMap(([key, rewards]) => rewards.map((reward) => ({ key, reward })));
  return {
    dataset_key: rows.map(({ key }) => key),
    uid: rows.map(({ key }) => `uid-${key}`),
    response_mask: rows.map(() => [1, 1]),
    rm_scores: rows.map(({ reward }) => [0, reward]),
  };
}
/** The hidden pipeline has taken the step in. */
function fed(run: Run, step: number): Promise<unknown> {
  const { status } = runKeys(run.handle.run).step(run.handle.incarnation, `${step}.0`);
  return eventually(() => system.redis.raw.hexists(status, "settled:_feed-main"));
}
async function feed(run: Run, step: number, prompts: Readonly<Record<string, readonly number[]>>): Promise<void> {
  await run.put(step, "post_reward", responses(prompts));
  await fed(run, step);
}
async function choose(run: Run, step: number, fields: { dataset_key: string[]; difficulty?: number[] }) {
  await run.put(step, "pre_rollout", fields);
  const result = await run.weights(step, { stages: ["pre_rollout"], timeoutMs: 15_000 });
  return { ...result.pipelines[0]!, result };
}

describe("difficulty_pool", () => {
  test("weighs prompts by what became of them in earlier steps", async () => {
    const run = await system.mount(policy("difficulty_pool"));
    expect(run.handle.stages).toEqual({
      pre_rollout: [{ name: "dataset_key" }],
      post_reward: expect.arrayContaining([{ name: "dataset_key" }, { name: "uid" }]),
    });
    const first = await choose(run, 1, { dataset_key: ["a", "b"] });
    expect([...first.weights]).toEqual([0.5, 0.5]);
    expect([...first.kept!]).toEqual([0, 1]);
    await feed(run, 1, { a: [1, 1], b: [1, 0] });
    const second = await choose(run, 2, { dataset_key: ["a", "b", "new"] });
    for (const [i, weight] of [0.2 / 2.2, 1 / 2.2, 1 / 2.2].entries()) expect(second.weights[i]).toBeCloseTo(weight, 6);
    expect(second.result.combined.weights).toHaveLength(0);
    expect(await run.release(1)).toBe("BURIED");
  });

  test("beside a pipeline that weighs the loss: its weights are for drawing, not for the loss", async () => {
    const scorer = { name: "reward_difficulty" };
    const run = await system.mount({
      pipelines: {
        main: policy("difficulty_pool"),
        loss: { mechanism: "reweight", scorer, actuator: { name: "softmax" } },
      },
    });
    await choose(run, 1, { dataset_key: ["a", "b"] });
    await run.put(1, "post_reward", responses({ a: [1, 1], b: [1, 1] }));
    const result = await run.weights(1, { timeoutMs: 15_000 });
    expect(result.pipelines.map((p) => p.name)).toEqual(["main", "loss"]);
    expect([...result.combined.weights]).toEqual([1, 1, 1, 1]);
  });
});

test("greso leaves out what taught nothing, and a step that is done again counts once", async () => {
  const run = await system.mount(policy("greso", { min_explore: 0, p_easy: 0.05, p_hard: 0.05 }));
  for (let step = 1; step <= 4; step++) await feed(run, step, { easy: [1, 1], mixed: [1, 0], hard: [0, 0] });
  await feed(run, 4, { easy: [1, 1], mixed: [1, 0], hard: [0, 0] });
  const keys = ["easy", "mixed", "hard", "new"];
  const { kept, metrics } = await choose(run, 5, { dataset_key: keys });
  expect([...kept!].map((row) => keys[row])).toEqual(["mixed", "new"]);
  expect(metrics).toMatchObject({ candidates: 4, kept_frac: 0.5 });
  expect(Object.keys((await run.mixState("main")).steps).sort()).toEqual(["1.0", "2.0", "3.0", "4.0"]);
});

test("adarft follows the reward; its state goes on in a new incarnation and from a checkpoint", async () => {
  const block = policy("adarft", { batch_size: 1 });
  const run = await system.mount(block, { run_id: "adarft" });
  await feed(run, 1, { a: [1, 1] });
  await feed(run, 2, { a: [0.5, 0.5] });
  const target = 50 * Math.tanh(1);
  const difficulty = [0, 40, 90];
  const dataset_key = ["x", "y", "z"];
  const { kept, metrics } = await choose(run, 3, { dataset_key, difficulty });
  expect(metrics.target_difficulty).toBeCloseTo(target, 5);
  expect([...kept!]).toEqual([1]);
  const saved = JSON.parse(JSON.stringify(await run.mixState("main")));
  await run.close();

  const again = await system.mount(block, { run_id: "adarft" });
  await feed(again, 2, { a: [0, 0] });
  const rewound = await choose(again, 3, { dataset_key, difficulty });
  expect(rewound.metrics.target_difficulty).toBe(0);
  await again.restoreMixState("main", saved);
  expect((await choose(again, 4, { dataset_key, difficulty })).metrics.target_difficulty).toBeCloseTo(target, 5);
});

test("learnability_pool prefers what is sometimes solved", async () => {
  const run = await system.mount(policy("learnability_pool", { floor: 0 }));
  await feed(run, 1, { never: [0, 0], half: [1, 0], always: [1, 1] });
  const { weights } = await choose(run, 2, { dataset_key: ["never", "half", "always"] });
  expect([...weights]).toEqual([0, 1, 0]);
});

describe("mounting", () => {
  test("a policy takes no scorer, and only mechanism select", async () => {
    const scorer = { name: "reward_difficulty" };
    const error = await rejection(system.mount({ ...policy("greso"), scorer }));
    expect(error.message).toMatch(/"greso" is a policy, not a selector.*\n?.*remove it/);
    expect((await rejection(system.mount({ ...policy("adarft") }))).message).toMatch(
      /needs the parameter "batch_size"/,
    );
  });

  test("a policy that compares groups needs an estimator with groups; adarft does not", async () => {
    const gae = { adv_estimator: "gae" };
    expect((await rejection(system.mount(policy("greso"), gae))).message).toMatch(/has no groups/);
    expect((await system.mount(policy("adarft", { batch_size: 1 }), gae)).handle.pipelines).toHaveLength(2);
  });
});
