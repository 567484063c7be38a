import { expect, test } from "vitest";
import { sharedKeys } from "../../src/redis/keys.js";
import { advantageStep, REWEIGHT, softmaxWeights, valuesOf, worst } from "../helpers/batches.js";
import { eventually } from "../helpers/eventually.js";
import { SCORERS } from "../helpers/processes.js";
import { useSystem } from "../helpers/system.js";

const system = useSystem({ workers: [] });
const STAGE = "post_advantage";
const STEPS = 500;
const queueKeys = () => system.redis.keys("dfx2:{q}:*");
/** BullMQ's keys of jobs: `<prefix>:<queue>:<job id>`, and job ids have `~` in them. */
const jobs = async (): Promise<string[]> => (await queueKeys()).filter((key) => key.includes("~"));

test("500 steps that timed out for want of a worker and were released leave no job; the queue goes with its run", async () => {
  const worker = await system.worker({ plugins: [SCORERS] });
  const run = await system.mount({ ...REWEIGHT, scorer: { name: "slow", params: { ms: 0 } } });
  await worker.stop();
  system.workers.splice(0);
  const step = { ...advantageStep([1, 2]) };
  for (let from = 0; from < STEPS; from += 100) {
    const batch = Array.from({ length: 100 }, (_, i) => from + i);
    await Promise.all(batch.map((n) => run.put(n, STAGE, step)));
  }
  await eventually(async () => (await jobs()).length >= STEPS, { what: "the jobs of all steps", timeoutMs: 30_000 });
  await Promise.all(
    Array.from({ length: STEPS }, async (_, n) => {
      await run.weights(n, { timeoutMs: 1 }).catch(() => {});
      if (n !== 7) await run.release(n);
    }),
  );
  // The one that is put again has its job all the same.
  await run.put(7, STAGE, { ...advantageStep(valuesOf(7, 2)) }, { replace: true });
  await eventually(async () => (await jobs()).length === 1, { what: "no job but the one", timeoutMs: 30_000 });
  await system.worker({ plugins: [SCORERS] });
  const [p] = (await run.weights(7, { timeoutMs: 20_000 })).pipelines;
  expect(worst(p!.weights, softmaxWeights(valuesOf(7, 2)))).toBeLessThan(1e-5);
  await run.release(7);
  for (const one of system.workers.splice(0)) await one.stop();
  await system.redis.raw.unlink(...(await system.redis.keys(`dfx2:{0}:${run.handle.run}:mount`)), sharedKeys.workers);
  await run.close();
  const { stage, fingerprint } = run.handle.pipelines[0]!;
  await eventually(async () => (await queueKeys()).every((key) => !key.includes(`${stage}.${fingerprint}:`)), {
    what: "no key of the run's queue",
    timeoutMs: 30_000,
  });
}, 120_000);
