import { expect, test } from "vitest";
import { BROKER_GROUP, runKeys } from "../../src/redis/keys.js";
import { advantageStep, softmaxWeights, valuesOf, worst } from "../helpers/batches.js";
import { eventually } from "../helpers/eventually.js";
import { jobEvents, jobsAdded } from "../helpers/jobs.js";
import { SCORERS } from "../helpers/processes.js";
import { useSystem } from "../helpers/system.js";

const STAGE = "post_advantage";
const system = useSystem({ brokers: 2, workers: [{ plugins: [SCORERS], slots: 2 }] });

test("announcements claimed by another broker while their job is at work lead to no second one", async () => {
  const run = await system.mount({
    mechanism: "reweight",
    scorer: { name: "slow", params: { ms: 3_000 } },
    actuator: { name: "softmax" },
  });
  const keys = runKeys(run.handle.run);
  const { raw } = system.redis;
  await run.put(1, STAGE, { ...advantageStep(valuesOf(1)) });
  await eventually(async () => (await jobEvents(system.redis, run.handle.run)).some((e) => e.event === "active"), {
    what: "the job at work",
  });
  // As a broker that read the announcement and died: its entry goes to whoever claims it, here several times over.
  for (let i = 0; i < 5; i++) {
    await raw.xadd(
      keys.announce,
      "*",
      "run",
      run.handle.run,
      "inc",
      String(run.handle.incarnation),
      "step",
      "1.0",
      "stage",
      STAGE,
    );
  }
  await eventually(
    async () => {
      await raw.xautoclaim(keys.announce, BROKER_GROUP, system.brokers[0]!.id, 0, "0");
      return (await raw.xlen(keys.announce)) === 0;
    },
    { what: "every announcement handled" },
  );
  const result = await run.weights(1, { timeoutMs: 20_000 });
  expect(worst(result.combined.weights, softmaxWeights(valuesOf(1)))).toBeLessThan(1e-6);
  expect(await jobsAdded(system.redis, run.handle.run)).toHaveLength(1);
  const outcomes = await raw.xlen(keys.step(run.handle.incarnation, "1.0").out);
  expect(outcomes).toBe(1);
  await run.release(1);
});
