import { Broker } from "dataflex-mq/server";
import { describe, expect, test } from "vitest";
import { BROKER_GROUP, encodeRun, runKeys, sharedKeys } from "../../src/redis/keys.js";
import { advantageStep, REWEIGHT, rewardStep, SELECT, softmaxWeights, valuesOf, worst } from "../helpers/batches.js";
import { eventually, rejection } from "../helpers/eventually.js";
import { jobsAdded } from "../helpers/jobs.js";
import { useSystem } from "../helpers/system.js";

const system = useSystem({ workers: [{ slots: 2 }] });
const STAGE = "post_advantage";
const announceOf = (run: string): string => runKeys(run).announce;

/** With no broker at work while `work` runs. */
async function withoutBroker(work: () => Promise<void>): Promise<void> {
  await Promise.all(system.brokers.splice(0).map((b) => b.stop()));
  try {
    await work();
  } finally {
    await system.broker();
  }
}

async function settledNotices(run: string): Promise<string[]> {
  const entries = await system.redis.raw.xrange(runKeys(run).notices, "-", "+");
  return entries
    .map(([, flat]) => ({
      kind: flat[flat.indexOf("kind") + 1],
      run: flat[flat.indexOf("run") + 1],
      step: flat[flat.indexOf("step") + 1],
    }))
    .filter((n) => n.kind === "settled" && n.run === run)
    .map((n) => n.step!);
}

describe("announcements", () => {
  test("posted before a broker lives are handled once it does, once", async () => {
    const run = await system.mount();
    await withoutBroker(async () => {
      await run.put(0, STAGE, { ...advantageStep([1, 2]) });
      expect(await system.redis.raw.xlen(announceOf(run.handle.run))).toBe(1);
    });
    expect(worst((await run.weights(0)).pipelines[0]!.weights, softmaxWeights([1, 2]))).toBeLessThan(1e-5);
    expect(await jobsAdded(system.redis, run.handle.run)).toHaveLength(1);
    await eventually(async () => (await system.redis.raw.xlen(announceOf(run.handle.run))) === 0, {
      what: "announcements handled and deleted",
    });
  });

  test("posted to a Redis whose stream no group was ever made for", async () => {
    const run = await system.mount();
    await withoutBroker(async () => {
      await system.redis.raw.del(announceOf(run.handle.run), sharedKeys.control);
      await run.put(0, STAGE, { ...advantageStep([3, 2]) });
    });
    expect(worst((await run.weights(0)).pipelines[0]!.weights, softmaxWeights([3, 2]))).toBeLessThan(1e-5);
  });

  test("that come twice, or for a settled step, add nothing", async () => {
    const run = await system.mount();
    const announce = (): Promise<unknown> =>
      system.redis.raw.xadd(
        announceOf(run.handle.run),
        "*",
        ...["run", run.handle.run, "inc", String(run.handle.incarnation), "step", "3.0", "stage", STAGE],
      );
    await run.put(3, STAGE, { ...advantageStep([1, 2]) });
    await run.weights(3);
    for (let i = 0; i < 5; i++) await announce();
    await eventually(async () => (await system.redis.raw.xlen(announceOf(run.handle.run))) === 0);
    expect(await jobsAdded(system.redis, run.handle.run)).toHaveLength(1);
    expect(await settledNotices(run.handle.run)).toEqual(["3.0"]);
  });

  test("that are lost are made up for by the walk over open steps", async () => {
    const run = await system.mount();
    await withoutBroker(async () => {
      await run.put(1, STAGE, { ...advantageStep([1, 5]) });
      await system.redis.raw.del(announceOf(run.handle.run));
    });
    const started = performance.now();
    expect(worst((await run.weights(1)).pipelines[0]!.weights, softmaxWeights([1, 5]))).toBeLessThan(1e-5);
    expect(performance.now() - started).toBeLessThan(6_000);
  });

  test("delivered to a broker that died before it acknowledged are taken over", async () => {
    const run = await system.mount();
    await withoutBroker(async () => {
      const stream = announceOf(run.handle.run);
      await system.redis.raw.xgroup("CREATE", stream, BROKER_GROUP, "0", "MKSTREAM").catch(() => {});
      await run.put(1, STAGE, { ...advantageStep([4, 5]) });
      const taken = await system.redis.raw.xreadgroup("GROUP", BROKER_GROUP, "dead", "STREAMS", stream, ">");
      expect(taken).toHaveLength(1);
    });
    expect(worst((await run.weights(1)).pipelines[0]!.weights, softmaxWeights([4, 5]))).toBeLessThan(1e-5);
    // The walk served the step; the entry itself is claimed and deleted as well.
    await eventually(async () => (await system.redis.raw.xlen(announceOf(run.handle.run))) === 0, {
      timeoutMs: 20_000,
    });
  });
});

describe("open steps", () => {
  test("whose jobs BullMQ has lost get new ones", async () => {
    const run = await system.mount();
    for (const worker of system.workers.splice(0)) await worker.stop();
    await run.put(1, STAGE, { ...advantageStep([2, 1]) });
    await eventually(async () => (await jobsAdded(system.redis, run.handle.run)).length === 1);
    for (const key of await system.redis.keys("dfx2:{q}:*")) await system.redis.raw.del(key);
    await system.worker({ slots: 2 });
    expect(worst((await run.weights(1)).pipelines[0]!.weights, softmaxWeights([2, 1]))).toBeLessThan(1e-5);
  });

  test("past their deadline are settled as expired; a stage that is still to come is not", async () => {
    const run = await system.mount({ pipelines: { keep: SELECT, weigh: REWEIGHT }, max_wait_ms: 1_000 });
    const { rm_scores, response_mask } = rewardStep([1, 0, 1, 1], 2);
    await run.put(1, "post_reward", { rm_scores, response_mask });
    const { out, status } = runKeys(run.handle.run).step(run.handle.incarnation, "1.0");
    await eventually(async () => (await system.redis.raw.xlen(out)) === 1, { what: "the settled failure" });
    expect(await system.redis.raw.hexists(status, "settled:weigh")).toBe(0);
    expect(await rejection(run.weights(1, { stages: ["post_reward"] }))).toMatchObject({
      code: "EXPIRED",
      message: expect.stringContaining("keep"),
    });
    await run.put(1, STAGE, { ...advantageStep([1, 2, 3, 4]) });
    const [p] = (await run.weights(1, { stages: [STAGE] })).pipelines;
    expect(worst(p!.weights, softmaxWeights([1, 2, 3, 4]))).toBeLessThan(1e-5);
  });

  test("are all looked at, however many there are", async () => {
    const run = await system.mount();
    await withoutBroker(async () => {
      // 300 that wait for a field, then one that is complete and whose announcement is lost.
      await Promise.all(Array.from({ length: 300 }, (_, step) => run.put(step, STAGE, { response_mask: [[1], [1]] })));
      await run.put(300, STAGE, { ...advantageStep([1, 2]) });
      await system.redis.raw.del(announceOf(run.handle.run));
    });
    expect((await run.weights(300, { timeoutMs: 15_000 })).pipelines[0]!.rows).toBe(2);
  });

  test("of a living run are looked after when another run is forgotten", async () => {
    const [living, gone] = [await system.mount(), await system.mount()];
    const { runs, mount } = runKeys(gone.handle.run);
    // Both were mounted long ago; one of the mounts has ended.
    for (const run of [living, gone]) await system.redis.raw.zadd(runs, 1, encodeRun(run.handle.run));
    await gone.close();
    await system.redis.raw.del(mount);
    await eventually(async () => (await system.redis.raw.zscore(runs, encodeRun(gone.handle.run))) === null);
    expect(await system.redis.raw.zscore(runs, encodeRun(living.handle.run))).not.toBeNull();
  });
});

describe("several brokers", () => {
  test("share 200 steps: each has one job and one outcome", async () => {
    await system.broker();
    const run = await system.mount();
    const steps = Array.from({ length: 200 }, (_, i) => i);
    await Promise.all(steps.map((n) => run.put(n, STAGE, { ...advantageStep(valuesOf(n)) })));
    const all = await Promise.all(steps.map((n) => run.weights(n, { timeoutMs: 30_000 })));
    for (const n of steps) expect(worst(all[n]!.pipelines[0]!.weights, softmaxWeights(valuesOf(n)))).toBeLessThan(1e-5);
    const jobs = await jobsAdded(system.redis, run.handle.run);
    expect(jobs).toHaveLength(200);
    expect((await settledNotices(run.handle.run)).sort()).toEqual(steps.map((n) => `${n}.0`).sort());
  });

  test("that come and go leave no consumer behind", async () => {
    const consumers = async (): Promise<number> =>
      ((await system.redis.raw.xinfo("CONSUMERS", announceOf("x"), BROKER_GROUP)) as unknown[]).length;
    const before = await consumers();
    for (let i = 0; i < 50; i += 10) {
      const some = await Promise.all(
        Array.from({ length: 10 }, () => new Broker({ redisUrl: system.redis.url }).start()),
      );
      await Promise.all(some.map((b) => b.stop()));
    }
    expect(await consumers()).toBeLessThanOrEqual(before);
    expect(
      ((await system.redis.raw.xinfo("CONSUMERS", sharedKeys.control, BROKER_GROUP)) as unknown[]).length,
    ).toBeLessThanOrEqual(before);
    expect(await system.redis.keys("dfx2:broker:*")).toHaveLength(system.brokers.length);
  });
});
