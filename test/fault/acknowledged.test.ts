import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runKeys } from "../../src/redis/keys.js";
import { advantageStep, REWEIGHT, rewardStep, SELECT, softmaxWeights, worst } from "../helpers/batches.js";
import { eventually, rejection } from "../helpers/eventually.js";
import { lagging } from "../helpers/lagging.js";
import { holders, SCORERS, useFolder } from "../helpers/processes.js";
import { useSystem } from "../helpers/system.js";

const system = useSystem({ workers: [{ slots: 4, plugins: [SCORERS] }] });
const folder = useFolder();
const STAGE = "post_advantage";
const gated = () => ({ ...REWEIGHT, scorer: { name: "gated", params: { folder } } });
const open = (step: number): void => writeFileSync(join(folder, `open-${step}`), "");

test("a replacement that was acknowledged and then lost by a failover counts all the same", async () => {
  const run = await system.mount();
  await run.put(1, STAGE, { ...advantageStep([1, 2, 3]) });
  const promote = await lagging(system.redis);
  expect(await run.put(1, STAGE, { ...advantageStep([3, 1, 2]) }, { replace: true })).toMatchObject({ attempt: 2 });
  await promote();
  const { pipelines } = await run.weights(1, { timeoutMs: 20_000 });
  expect(worst(pipelines[0]!.weights, softmaxWeights([3, 1, 2]))).toBeLessThan(1e-5);
});

test("an outcome of the content that the failover brought back is not taken for the replacement's", async () => {
  const run = await system.mount();
  await run.put(1, STAGE, { ...advantageStep([1, 2, 3]) });
  await run.weights(1, { timeoutMs: 20_000 });
  const promote = await lagging(system.redis);
  await run.put(1, STAGE, { ...advantageStep([3, 1, 2]) }, { replace: true });
  await promote();
  const { pipelines } = await run.weights(1, { timeoutMs: 20_000 });
  expect(worst(pipelines[0]!.weights, softmaxWeights([3, 1, 2]))).toBeLessThan(1e-5);
});

test("a job of replaced content that outlives the emptied Redis settles nothing", async () => {
  const run = await system.mount(gated());
  await run.put(1, STAGE, { ...advantageStep([1, 2, 3]) });
  await eventually(() => holders(folder, run.handle.run, 1).length === 1);
  await run.put(1, STAGE, { ...advantageStep([3, 1, 2]) }, { replace: true });
  await eventually(() => holders(folder, run.handle.run, 1).length === 2);
  await system.redis.flush();
  const weights = run.weights(1, { timeoutMs: 30_000 });
  await eventually(() => holders(folder, run.handle.run, 1).length >= 3, { timeoutMs: 20_000 });
  open(1);
  expect(worst((await weights).pipelines[0]!.weights, softmaxWeights([3, 1, 2]))).toBeLessThan(1e-5);
});

test("Redis comes back empty after a step was settled and before its weights were read", async () => {
  const run = await system.mount();
  await run.put(1, STAGE, { ...advantageStep([1, 2, 3]) });
  const { status } = runKeys(run.handle.run).step(run.handle.incarnation, "1.0");
  await eventually(() => system.redis.raw.hexists(status, "settled:main"));
  // Long enough for a heartbeat to look after the step.
  const beat = await system.redis.raw.hget(status, "created");
  await eventually(async () => Number((await system.redis.raw.time())[0]) * 1_000 - Number(beat) > 4_000, {
    timeoutMs: 8_000,
    what: "a heartbeat after the step was settled",
  });
  await system.redis.flush();
  const { pipelines } = await run.weights(1, { timeoutMs: 20_000 });
  expect(worst(pipelines[0]!.weights, softmaxWeights([1, 2, 3]))).toBeLessThan(1e-5);
});

test("the later trainer of a run wins, though the earlier one put its mount back first", async () => {
  const first = await system.mount(REWEIGHT, { run_id: "taken" });
  const second = await system.mount(REWEIGHT, { run_id: "taken", takeover: true });
  const { mount } = runKeys("taken");
  await system.redis.raw.hset(mount, "inc", String(first.handle.incarnation));
  await second.put(1, STAGE, { ...advantageStep([1, 2, 3]) });
  const { pipelines } = await second.weights(1, { timeoutMs: 20_000 });
  expect(worst(pipelines[0]!.weights, softmaxWeights([1, 2, 3]))).toBeLessThan(1e-5);
  expect(await rejection(first.put(2, STAGE, { ...advantageStep([1, 2, 3]) }))).toMatchObject({ code: "FENCED" });
});

test("the same content put again with replace over a failure is a new attempt", async () => {
  const run = await system.mount(gated());
  await run.put(2, STAGE, { ...advantageStep([1, 2, 3]) });
  expect(await rejection(run.weights(2, { timeoutMs: 500 }))).toMatchObject({ code: "TIMEOUT" });
  open(2);
  const done = await run.put(2, STAGE, { ...advantageStep([1, 2, 3]) }, { replace: true });
  expect(done).toMatchObject({ kind: "REPLACED", attempt: 2 });
  const { pipelines } = await run.weights(2, { timeoutMs: 20_000 });
  expect(worst(pipelines[0]!.weights, softmaxWeights([1, 2, 3]))).toBeLessThan(1e-5);
  // Over a result it changes nothing, as ever.
  expect(await run.put(2, STAGE, { ...advantageStep([1, 2, 3]) }, { replace: true })).toMatchObject({
    kind: "DUPLICATE",
    attempt: 2,
  });
});

test("a step that was released stays released when Redis comes back empty", async () => {
  const run = await system.mount(SELECT, { run_id: "two-ranks" });
  const rank = await (await system.client()).attach("two-ranks");
  const { rm_scores, response_mask, uid } = rewardStep([1, 0, 1, 1], 2);
  await run.put(1, "post_reward", { response_mask, uid });
  await rank.put(1, "post_reward", { rm_scores });
  await run.weights(1, { timeoutMs: 20_000 });
  await run.release(1);
  await system.redis.flush();
  const { mount } = runKeys("two-ranks");
  const { status } = runKeys("two-ranks").step(run.handle.incarnation, "1.0");
  await eventually(() => system.redis.raw.exists(mount), { timeoutMs: 8_000 });
  await eventually(() => system.redis.raw.hexists(status, "released"), { timeoutMs: 8_000 });
  expect(await system.redis.raw.hkeys(status)).not.toContain("span:post_reward");
});

const KEYED = { pipelines: { kept: SELECT, weighed: REWEIGHT } };

test("rows are one table for both later stages: keys in another order mean the same rows", async () => {
  const run = await system.mount(KEYED);
  const values = [1, 2, 3, 4];
  const table = ["d", "c", "b", "a"];
  const reward = rewardStep([1, 0, 1, 1], 2);
  await run.put(1, "post_reward", reward, { keys: table });
  const step = advantageStep(values);
  const reversed = { advantages: step.advantages.toReversed(), response_mask: step.response_mask.toReversed() };
  await run.put(1, STAGE, { ...reversed }, { keys: table.toReversed() });
  const result = await run.weights(1, { timeoutMs: 20_000 });
  // In the order of my own last put, and it says so.
  expect(result.keys).toEqual(table.toReversed());
  const by = new Map(result.keys!.map((key, i) => [key, result.combined.weights[i]!]));
  const want = softmaxWeights(values).map((w, i) => (i < 2 ? w : 0));
  expect(
    worst(
      table.map((key) => by.get(key)!),
      want,
    ),
  ).toBeLessThan(1e-4);
});

test("a later stage may hold a part of the rows; a key that the table lacks is refused", async () => {
  const run = await system.mount(KEYED);
  await run.put(1, "post_reward", rewardStep([1, 0, 1, 1], 2), { keys: ["a", "b", "c", "d"] });
  const unknown = run.put(1, STAGE, { ...advantageStep([1, 2]) }, { keys: ["x", "y"] });
  expect(await rejection(unknown)).toMatchObject({ code: "ROWS_CONFLICT", message: expect.stringContaining('"x"') });
  await run.put(1, STAGE, { ...advantageStep([1, 2, 3]) }, { keys: ["d", "b", "a"] });
  const result = await run.weights(1, { timeoutMs: 20_000 });
  expect(result.keys).toEqual(["d", "b", "a"]);
  const scores = softmaxWeights([1, 2, 3]);
  expect(worst(result.combined.weights, [0, scores[1]!, scores[2]!])).toBeLessThan(1e-4);
});

test("six thousand puts of one row each are no more than linear work for Redis", async () => {
  const run = await system.mount();
  const rows = 6_000;
  const before = Number(/pexpire:calls=(\d+)/.exec(await system.redis.raw.info("commandstats"))?.[1] ?? 0);
  const values = Array.from({ length: rows }, (_, i) => Math.sin(i));
  for (let from = 0; from < rows; from += 250) {
    await Promise.all(
      values
        .slice(from, from + 250)
        .map((value, i) =>
          run.put(
            1,
            STAGE,
            { advantages: [[value]], response_mask: [[1]] },
            { rows: [from + i, from + i + 1], total_rows: rows },
          ),
        ),
    );
  }
  const { pipelines } = await run.weights(1, { timeoutMs: 60_000 });
  expect(worst(pipelines[0]!.weights, softmaxWeights(values))).toBeLessThan(1e-3);
  const after = Number(/pexpire:calls=(\d+)/.exec(await system.redis.raw.info("commandstats"))?.[1] ?? 0);
  expect(after - before).toBeLessThan(rows * 10);
});
