import { Client } from "dataflex-mq";
import { runBroker, runWorker } from "dataflex-mq/server";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { advantageStep, REWEIGHT, softmaxWeights } from "../helpers/batches.js";
import { eventually } from "../helpers/eventually.js";
import { oursOf, valueIn } from "../helpers/metrics.js";
import { testWith } from "../helpers/packages.js";
import { promtool } from "../helpers/promtool.js";
import { startTestRedis, type TestRedis } from "../helpers/redis.js";

type Service = Awaited<ReturnType<typeof runBroker>>;
let redis: TestRedis;
let broker: Service;
let worker: Service;

beforeAll(async () => {
  vi.stubEnv("DFX_LOG", "error");
  redis = await startTestRedis();
  broker = await runBroker(redis.url, { http: "127.0.0.1:0" });
  worker = await runWorker(redis.url, { http: "127.0.0.1:0", slots: 2 });
});
afterAll(async () => {
  await worker?.stop();
  await broker?.stop();
  await redis.stop();
});

const get = (service: Service, path: string): Promise<Response> => fetch(`${service.ready.http}${path}`);
const page = async (service: Service): Promise<string> => (await get(service, "/metrics")).text();

test("a started service is ready and alive", async () => {
  for (const service of [broker, worker]) {
    for (const path of ["/readyz", "/healthz"]) {
      const response = await get(service, path);
      expect([path, response.status, await response.text()]).toEqual([
        path,
        200,
        expect.stringContaining('"status":"ok"'),
      ]);
    }
  }
  expect(valueIn(await page(worker), "dataflex_ready")).toBe(1);
});

test("one step through trainer, broker and worker shows on both pages, with the numbers of its weights", async () => {
  const values = [0.5, -1, 2, 0.25];
  const client = await Client.connect({ redisUrl: redis.url });
  const run = await client.mount({ run_id: "one-step", dataflex: REWEIGHT, adv_estimator: "grpo", timeoutMs: 10_000 });
  await run.put(12, "post_advantage", { ...advantageStep(values) });
  await run.weights(12);
  await run.release(12);
  await client.close();

  const weights = softmaxWeights(values);
  const onBroker = await eventually(async () => {
    const text = await page(broker);
    return valueIn(text, "dataflex_trainer_wait_seconds_count", { run: "one-step" }) === 1 && text;
  });
  const main = { run: "one-step", delivered: "true", stage: "post_advantage", mechanism: "reweight", level: "sample" };
  expect(valueIn(onBroker, "dataflex_weight_max", main)).toBeCloseTo(Math.max(...weights), 5);
  expect(valueIn(onBroker, "dataflex_weight_min", main)).toBeCloseTo(Math.min(...weights), 5);
  expect(valueIn(onBroker, "dataflex_weight_mean", main)).toBeCloseTo(1, 5);
  const squares = weights.reduce((n, w) => n + w * w, 0);
  expect(valueIn(onBroker, "dataflex_weight_ess_ratio", main)).toBeCloseTo(values.length / squares, 4);
  expect(valueIn(onBroker, "dataflex_steps_total", { run: "one-step", outcome: "applied" })).toBe(1);
  expect(valueIn(onBroker, "dataflex_run_step", { run: "one-step", point: "applied" })).toBe(12);
  expect(valueIn(onBroker, "dataflex_broker_leader")).toBe(1);

  const onWorker = await page(worker);
  const job = { stage: "post_advantage", scorer: "advantage_magnitude" };
  expect(valueIn(onWorker, "dataflex_jobs_total", { ...job, outcome: "completed" })).toBe(1);
  expect(valueIn(onWorker, "dataflex_job_failures_total", { ...job, reason: "nonfinite" })).toBe(0);
  expect(valueIn(onWorker, "dataflex_samples_total", { stage: job.stage })).toBe(4);
  expect(valueIn(onWorker, "dataflex_tokens_total", { stage: job.stage })).toBe(1 + 2 + 3 + 4);
  expect(valueIn(onWorker, "dataflex_payload_bytes_total", { direction: "in", encoding: "row" })).toBeGreaterThan(0);
  for (const phase of ["fetch", "decode", "score", "encode", "publish"]) {
    expect(valueIn(onWorker, "dataflex_job_phase_seconds_count", { phase })).toBe(1);
  }
  expect(valueIn(onWorker, "dataflex_job_slots")).toBe(2);
  expect(valueIn(onWorker, "dataflex_device_info", { backend: "cpu", requested: "auto" })).toBe(1);
});

test("workers and slots of a queue come from their heartbeats", async () => {
  const text = await eventually(async () => {
    const found = await page(broker);
    return /dataflex_workers\{queue="post_advantage\./.test(found) && found;
  });
  expect(
    [...text.matchAll(/dataflex_workers\{queue="post_advantage\.[^"]+",backend="cpu"\} (\d+)/g)].map((m) => m[1]),
  ).toEqual(["1"]);
  expect([...text.matchAll(/dataflex_worker_slots\{queue="post_advantage\.[^"]+"\} (\d+)/g)].map((m) => m[1])).toEqual([
    "2",
  ]);
});

testWith("prometheus")("promtool finds nothing to say about the pages of broker and worker", async () => {
  for (const service of [broker, worker]) {
    const { status, said } = promtool(["check", "metrics"], oursOf(await page(service)));
    expect([status, said]).toEqual([0, ""]);
  }
});

test("a service whose --http port is taken ends with exit code 2 and leaves nothing open", async () => {
  const port = new URL(broker.ready.http).port;
  await expect(runBroker(redis.url, { http: `127.0.0.1:${port}` })).rejects.toMatchObject({
    code: "USAGE",
    message: expect.stringContaining(`port ${port} is taken`),
  });
  await eventually(async () => (await redis.raw.zcard("dfx2:brokers")) === 1);
});
