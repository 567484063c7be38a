import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Run } from "dataflex-mq";
import { afterAll, expect, test } from "vitest";
import type { Io } from "../../src/commands/cli/io.js";
import { runCli } from "../../src/commands/cli/program.js";
import type { Overview, QueueView, RunView } from "../../src/observe/status/overview-types.js";
import { redisNow } from "../../src/redis/connect.js";
import { HEARTBEAT_TTL_MS, sharedKeys } from "../../src/redis/keys.js";
import { advantageStep, REWEIGHT, valuesOf } from "../helpers/batches.js";
import { eventually } from "../helpers/eventually.js";
import { holders, SCORERS, useFolder } from "../helpers/processes.js";
import { useServed } from "../helpers/served.js";

const STAGE = "post_advantage";
const folders = [useFolder(), useFolder()] as const;
const batch = advantageStep(valuesOf(1, 8));
const served = useServed({ plugin: [SCORERS], slots: 1 });

afterAll(async () => {
  for (const folder of folders) writeFileSync(join(folder, "open"), "");
});

const gated = (folder: string) => ({ ...REWEIGHT, scorer: { name: "gated", params: { folder } } });
const mount = (run_id: string, dataflex: object): Promise<Run> =>
  served.client.mount({ run_id, dataflex, adv_estimator: "grpo", timeoutMs: 20_000 });
const overview = async (): Promise<Overview> =>
  (await fetch(`${served.broker.ready.http}/api/v1/overview`)).json() as Promise<Overview>;
const viewOf = async (run: Run): Promise<RunView> =>
  (await overview()).runs.find((r) => r.run === run.handle.run) ?? expect.fail("the run is not shown");
/** Step, phase and what of it is done, once they are so. */
const until = (
  run: Run,
  step: number | null,
  phase: string | null,
  settled: [number, number] | null,
): Promise<unknown> =>
  eventually(
    async () => {
      const seen = await viewOf(run);
      const found = JSON.stringify([seen.step, seen.phase, seen.settled]);
      if (found === JSON.stringify([step, phase, settled])) return true;
      throw new Error(`the page says ${found}`);
    },
    { what: `step ${step} ${phase} ${settled}` },
  );
async function status(): Promise<{ out: string }> {
  let out = "";
  const io: Io = { out: (text) => (out += text), err: () => {}, env: {}, fancy: false, clear: () => {} };
  expect(await runCli(["status", "--redis", served.redis.url], io)).toBe(0);
  return { out };
}
const busiest = async (): Promise<QueueView> =>
  (await overview()).queues.find((q) => (q.counts.active ?? 0) > 0) ?? expect.fail("no queue is at work");

test("a step's phase is its own, whatever the queue does for others; queues and workers report what they do", async () => {
  const other = await mount("other", gated(folders[0]));
  const mine = await mount("mine", { pipelines: { one: gated(folders[0]), two: gated(folders[1]) } });
  await until(mine, null, null, null);
  const [idle] = (await overview()).workers;
  expect(idle).toMatchObject({ state: "idle", device: "cpu", backend: "cpu", slots: 1, active: 0 });
  expect(idle).toMatchObject({ jobs_last_minute: 0, last_job: null, tensor_bytes: expect.any(Number) });

  // The other run's job holds the only slot.
  await other.put(1, STAGE, { ...batch });
  await eventually(() => holders(folders[0], "other", 1).length === 1, { what: "the other run's job" });
  await until(other, 1, "scoring", [0, 1]);
  await mine.put(2, STAGE, { response_mask: batch.response_mask });
  await until(mine, 2, "received", [0, 2]);
  await mine.put(2, STAGE, { advantages: batch.advantages });
  await until(mine, 2, "queued", [0, 2]);
  const queue = await eventually(async () => {
    const seen = await busiest();
    return (seen.oldest_ms ?? 0) > 0 && seen;
  });
  expect(queue).toMatchObject({ stage: STAGE, workers: 1, slots: 1, counts: { waiting: 2, active: 1, failed: 0 } });
  await eventually(async () => (await overview()).workers[0]?.state === "busy", {
    what: "the heartbeat of a busy worker",
  });

  writeFileSync(join(folders[0], "open-1"), "");
  const first = await eventually(() => folders.find((f) => holders(f, "mine", 2).length === 1), {
    what: "this run's job",
  });
  await until(mine, 2, "scoring", [0, 2]);
  writeFileSync(join(first, "open-2"), "");
  await until(mine, 2, "scoring", [1, 2]);
  expect(await busiest()).toMatchObject({ oldest_ms: null, counts: { waiting: 0, active: 1 } });
  for (const folder of folders) writeFileSync(join(folder, "open-2"), "");
  await until(mine, 2, "published", [2, 2]);
  await mine.weights(2);
  await mine.release(2);
  await until(mine, 2, "applied", null);

  const { at, workers } = await eventually(
    async () => {
      const seen = await overview();
      return seen.workers[0]?.jobs_last_minute === 3 && seen;
    },
    { what: "three jobs in the heartbeat" },
  );
  expect(workers[0]).toMatchObject({ state: "idle", active: 0 });
  expect(workers[0]!.last_job).toBeGreaterThan(at - 30_000);
  expect(workers[0]!.last_job).toBeLessThanOrEqual(at);
  expect(workers[0]!.loop_lag_ms).toBeGreaterThanOrEqual(0);

  const { out } = await status();
  expect(out).toMatch(/ {2}post_advantage +0 +0 +0 +- +1 +1\n/);
  expect(out).toMatch(/ cpu +idle +0\/1 +3 +\d+\.\d s ago +[\d.]+ ms +0\.0 MB +- +\d/);
});

test("a worker whose heartbeat misses turns is late before it counts as gone", async () => {
  const [id] = (await served.redis.raw.zrange(sharedKeys.workers, "0", "-1")) as [string];
  await eventually(
    async () => {
      // As if its last heartbeat were seven seconds old; the worker itself lives and will correct that.
      await served.redis.raw.zadd(
        sharedKeys.workers,
        (await redisNow(served.redis.raw)) + HEARTBEAT_TTL_MS - 7_000,
        id,
      );
      return (await overview()).workers[0]?.state === "late";
    },
    { what: "a late worker" },
  );
  await eventually(async () => (await overview()).workers[0]?.state === "idle", { what: "the next heartbeat" });
});
