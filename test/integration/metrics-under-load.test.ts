import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "dataflex-mq";
import { afterAll, beforeAll, expect, test } from "vitest";
import { advantageStep } from "../helpers/batches.js";
import { eventually } from "../helpers/eventually.js";
import { valueIn } from "../helpers/metrics.js";
import { Fleet, useFolder } from "../helpers/processes.js";
import { startTestRedis, type TestRedis } from "../helpers/redis.js";

const fleet = new Fleet();
const folder = useFolder();
/** As long as three of a job's locks: were they not renewed meanwhile, another worker would get the job. */
const SPIN_MS = 15_000;
let redis: TestRedis;

beforeAll(async () => {
  redis = await startTestRedis();
});
afterAll(() => redis.stop());

test("while a scorer burns a processor its worker answers scrapes within 200 ms, and keeps its job", async () => {
  await fleet.spawn("broker", redis.url);
  const worker = await fleet.worker(redis.url);
  const client = await Client.connect({ redisUrl: redis.url });
  const scorer = { name: "spinning", params: { ms: SPIN_MS, folder } };
  const dataflex = { mechanism: "reweight", scorer, actuator: { name: "softmax" } };
  const run = await client.mount({ run_id: "burning", dataflex, adv_estimator: "grpo", timeoutMs: 20_000 });
  await run.put(1, "post_advantage", { ...advantageStep([0.5, -1, 2, 0.25]) });
  const weights = run.weights(1, { timeoutMs: 60_000 });

  const scrape = async (): Promise<{ ms: number; page: string }> => {
    const started = performance.now();
    const page = await (await fetch(`${worker.ready.http}/metrics`)).text();
    return { ms: performance.now() - started, page };
  };
  await eventually(async () => valueIn((await scrape()).page, "dataflex_jobs_active") === 1);
  const took: number[] = [];
  for (let active = true; active; ) {
    const { ms, page } = await scrape();
    active = valueIn(page, "dataflex_jobs_active") === 1;
    if (active) took.push(ms);
  }
  expect((await weights).pipelines[0]?.weights).toHaveLength(4);
  await client.close();
  // The median: single scrapes may be late on a machine that is busy with other things.
  expect(took.sort((a, b) => a - b)[took.length >> 1]).toBeLessThan(200);
  expect(took.length).toBeGreaterThan(10);
  const { page } = await scrape();
  expect(valueIn(page, "dataflex_lock_renewal_failures_total")).toBe(0);
  expect(readFileSync(join(folder, "spun"), "utf8").trim().split("\n")).toHaveLength(1);
});
