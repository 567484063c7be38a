import { Queue } from "bullmq";
import { expect, test } from "vitest";
import { createBrokerMetrics } from "../../src/observe/metrics/broker-recorder.js";
import { QUEUE_PREFIX } from "../../src/redis/keys.js";
import { advantageStep, softmaxWeights, valuesOf, worst } from "../helpers/batches.js";
import { eventually } from "../helpers/eventually.js";
import { valueIn } from "../helpers/metrics.js";
import { useSystem } from "../helpers/system.js";

const system = useSystem();

test("a queue that somebody has paused keeps its jobs, shows that it is, and goes on when it is resumed", async () => {
  const metrics = createBrokerMetrics(system.brokers[0]! as never);
  const page = async (): Promise<string> => {
    await metrics.refresh();
    return metrics.text();
  };
  const run = await system.mount();
  const { stage, fingerprint } = run.handle.pipelines[0]!;
  const queue = `${stage}.${fingerprint}`;
  const admin = new Queue(queue, { connection: system.redis.raw, prefix: QUEUE_PREFIX });
  await admin.pause();
  await run.put(1, "post_advantage", { ...advantageStep(valuesOf(1)) });
  const waiting = await eventually(async () => {
    const text = await page();
    return valueIn(text, "dataflex_queue_jobs", { queue, state: "waiting" }) === 1 ? text : undefined;
  });
  expect(valueIn(waiting, "dataflex_queue_paused", { queue })).toBe(1);
  expect(valueIn(waiting, "dataflex_worker_slots", { queue })).toBeGreaterThan(0);
  await admin.resume();
  const { pipelines } = await run.weights(1);
  expect(worst(pipelines[0]!.weights as Float32Array, softmaxWeights(valuesOf(1)))).toBeLessThan(1e-6);
  await eventually(async () => valueIn(await page(), "dataflex_queue_paused", { queue }) === 0);
  await run.release(1);
  await admin.close();
});
