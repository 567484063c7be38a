import { describe, expect, test, vi } from "vitest";
import { Broker } from "../../src/broker/broker.js";
import { runBroker } from "../../src/commands/services/run-service.js";
import { silentLogger } from "../../src/log.js";
import { withHistory } from "../../src/observe/history/history-sink.js";
import { startHttp } from "../../src/observe/http/http-server.js";
import { listenOf } from "../../src/observe/http/listen.js";
import { serviceChecks } from "../../src/observe/http/service-checks.js";
import { createBrokerMetrics } from "../../src/observe/metrics/broker-recorder.js";
import { pack } from "../../src/protocol/codec.js";
import { runKeys, sharedKeys } from "../../src/redis/keys.js";
import { weightDistribution } from "../../src/scoring/distribution.js";
import { eventually } from "../helpers/eventually.js";
import { resultOf, specOf } from "../helpers/executions.js";
import { manyPipelines } from "../helpers/many-pipelines.js";
import { linesOf, oursOf, seriesOf, valueIn } from "../helpers/metrics.js";
import { MetricsBench } from "../helpers/metrics-bench.js";
import { testWith } from "../helpers/packages.js";
import { promtool } from "../helpers/promtool.js";
import { startTestRedis } from "../helpers/redis.js";

const own = MetricsBench.use();
const STAGE = { stage: "post_advantage" } as const;
const shadow = specOf({
  name: "trial",
  shadow: true,
  mechanism: "select",
  actuator: { name: "topk_fraction", params: {} },
});

describe("queues, workers, streams, Redis", () => {
  test("jobs that wait for a worker, and streams without arrears", async () => {
    const leader = await own.leader();
    const spec = specOf({ fingerprint: "abc" });
    await own.mount("waiting", [spec]);
    const job = {
      run: "waiting",
      incarnation: 1,
      step: "1.0",
      ...STAGE,
      pipeline: "main",
      attempt: 1,
      content: "c0ffee",
    };
    await leader.broker.queues.add("abc", { ...job, shard: [0, 1], deadline: Date.now() + 60_000, added: Date.now() });
    const page = await leader.page();
    const queue = "post_advantage.abc";
    expect(valueIn(page, "dataflex_queue_jobs", { queue, state: "waiting" })).toBe(1);
    expect(valueIn(page, "dataflex_queue_jobs", { queue, state: "active" })).toBe(0);
    expect(valueIn(page, "dataflex_scorer_mounted", { queue, scorer: "advantage_magnitude", ...STAGE })).toBe(1);
    expect(valueIn(page, "dataflex_queue_paused", { queue })).toBe(0);
    expect(valueIn(page, "dataflex_stream_entries", { stream: "dead" })).toBe(0);
    const seen = valueIn(page, "dataflex_trainer_last_seen_timestamp_seconds", { run: "waiting" });
    expect(Math.abs(seen! - Date.now() / 1000)).toBeLessThan(15);
    expect(valueIn(page, "dataflex_redis_ping_seconds_count")).toBeGreaterThan(0);
    expect(valueIn(page, "dataflex_worker_slots", { queue })).toBe(0);
    expect(valueIn(page, "dataflex_workers", { queue })).toBeUndefined();
    for (const stream of ["control", "announce", "notices"]) {
      expect(valueIn(page, "dataflex_stream_lag_entries", { stream })).toBe(0);
      expect(valueIn(page, "dataflex_stream_pending_entries", { stream })).toBe(0);
    }
    expect(valueIn(page, "dataflex_redis_memory_used_bytes")).toBeGreaterThan(0);
    expect(valueIn(page, "dataflex_redis_memory_max_bytes")).toBe(0);
    expect(valueIn(page, "dataflex_redis_config_ok", { check: "maxmemory_policy" })).toBe(1);
  });

  test("the oldest waiting job by its age on Redis' clock, whatever was added since", async () => {
    const leader = await own.leader();
    const job = {
      run: "r",
      incarnation: 1,
      ...STAGE,
      pipeline: "main",
      attempt: 1,
      content: "c0ffee",
      shard: [0, 1],
    } as const;
    const now = Date.now();
    for (const [i, ago] of [90_000, 5_000, 10].entries()) {
      await leader.broker.queues.add("abc", { ...job, step: `${i}.0`, deadline: now + 60_000, added: now - ago });
    }
    const age = valueIn(await leader.page(), "dataflex_queue_oldest_job_age_seconds", { queue: "post_advantage.abc" });
    expect(age).toBeGreaterThanOrEqual(90);
    expect(age).toBeLessThan(120);
  });

  test("payload of open steps, and entries that nobody acknowledges", async () => {
    const leader = await own.leader();
    const handle = await own.mount("open", [specOf()]);
    await handle.open("1.0");
    const { status } = runKeys("open").step(handle.handle.incarnation, "1.0");
    await own.redis.raw.hset(status, { bytes: 123 });
    expect(valueIn(await leader.page(), "dataflex_inflight_bytes")).toBe(123);

    // Another broker has taken an entry and died.
    await own.redis.raw.xadd(sharedKeys.control, "*", "request", "x");
    const stolen = await eventually(async () => {
      const page = await leader.page();
      return (valueIn(page, "dataflex_stream_entries", { stream: "dead" }) ?? 0) > 0 ? page : undefined;
    });
    expect(valueIn(stolen, "dataflex_stream_oldest_pending_seconds", { stream: "control" })).toBeGreaterThanOrEqual(0);
  });

  test("a policy that may evict shows, though the server was changed after the start", async () => {
    const leader = await own.leader();
    await own.redis.raw.config("SET", "maxmemory-policy", "allkeys-lru");
    own.later(() => own.redis.raw.config("SET", "maxmemory-policy", "noeviction"));
    expect(valueIn(await leader.page(), "dataflex_redis_config_ok", { check: "maxmemory_policy" })).toBe(0);
  });
});

test("series of silent runs go after 15 minutes; 10,000 steps of 100 runs leave the page no larger", async () => {
  let now = 1_000_000;
  const leader = await own.leader(() => now);
  const { notices } = runKeys("x");
  const header = Buffer.from(pack(resultOf()));
  const post = async (from: number): Promise<void> => {
    const pipeline = own.redis.raw.pipeline();
    for (let i = from; i < from + 5_000; i++) {
      const fields = [
        "kind",
        "settled",
        "run",
        `run-${i % 100}`,
        "inc",
        "1",
        "step",
        `${i}.0`,
        "pipeline",
        "main",
        "ms",
        "5",
      ];
      pipeline.xadd(notices, "*", ...fields, "header", header);
    }
    await pipeline.exec();
  };
  const counted = (page: string): number =>
    [...seriesOf(page)].reduce((n, [name, v]) => n + (name.startsWith("dataflex_steps_total") ? v : 0), 0);
  await post(0);
  const first = await leader.until((p) => counted(p) === 5_000);
  await post(5_000);
  const second = await leader.until((p) => counted(p) === 10_000);
  expect(seriesOf(second).size).toBe(seriesOf(first).size);
  expect(seriesOf(second).size).toBeLessThan(3_000);
  expect(valueIn(second, "dataflex_steps_total", { run: "_other" })).toBe(68 * 100);
  now += 16 * 60_000;
  const empty = await leader.until((p) => valueIn(p, "dataflex_steps_total", { run: "run-0" }) === undefined);
  expect([...seriesOf(empty).keys()].filter((name) => name.includes('run="run-'))).toEqual([]);
});

test("40 mounted runs with four pipelines each leave a broker's page below 3,000 series, flat over 2,000 steps", async () => {
  const leader = await own.leader();
  const specs = (run: number) => manyPipelines(["advantage_magnitude", "reward_difficulty", "response_length"], run);
  const incarnations: number[] = [];
  for (let run = 0; run < 40; run++) incarnations.push((await own.mount(`run-${run}`, specs(run))).handle.incarnation);
  const { stats, ...header } = resultOf({ distribution: { weights: weightDistribution(Float64Array.of(0, 2)) } });
  const combined = { level: "token", stats: stats!, clipped: { low: 0, high: 0.5 } };
  const post = async (from: number, to: number): Promise<void> => {
    const pipeline = own.redis.raw.pipeline();
    for (let i = from; i < to; i++) {
      const run = i % 40;
      const of = ["run", `run-${run}`, "inc", incarnations[run]!, "step", `${i}.0`];
      for (const { name, mechanism, stage } of specs(run)) {
        const shares = { granularity: "domain", proportions: { math: 0.5, code: 0.25, logic: 0.25 } } as const;
        const body = { ...header, mechanism, stage, ...(mechanism === "mix" ? shares : { stats }) };
        const entry = ["kind", "settled", ...of, "pipeline", name, "ms", "5", "header", Buffer.from(pack(body))];
        pipeline.xadd(runKeys("x").notices, "*", ...entry);
      }
      const entry = Buffer.from(pack({ wait_ms: 3, combined }));
      pipeline.xadd(runKeys("x").notices, "*", "kind", "released", ...of, "header", entry);
    }
    await pipeline.exec();
  };
  const released = (page: string): number =>
    [...seriesOf(page)].reduce(
      (n, [name, v]) => n + (name.startsWith("dataflex_trainer_wait_seconds_count") ? v : 0),
      0,
    );
  await post(0, 400);
  const first = await leader.until((p) => released(p) === 400);
  await post(400, 2_000);
  const last = await leader.until((p) => released(p) === 2_000);
  const sizeOf = (page: string): number => linesOf(page).filter((line) => line.includes("run=")).length;
  expect(sizeOf(last)).toBe(sizeOf(first));
  expect(linesOf(last).length).toBeLessThanOrEqual(3_000);
  expect(valueIn(last, "dataflex_weight_mean", { run: "run-0", pipeline: "sharp" })).toBe(1);
  expect(linesOf(last).some((line) => line.includes('run="_other"'))).toBe(true);
  // What is about no run is there all the same.
  for (const stage of ["post_reward", "post_advantage"]) {
    expect(valueIn(last, "dataflex_queue_jobs", { queue: `${stage}.builtin`, state: "waiting" })).toBe(0);
  }
});

test("live pages that look on are counted, and no longer when they are closed", async () => {
  vi.stubEnv("DFX_LOG", "error");
  own.later(async () => vi.unstubAllEnvs());
  const service = await runBroker(own.redis.url, { http: "127.0.0.1:0" });
  own.later(() => service.stop());
  const open = async (): Promise<number | undefined> =>
    valueIn(await (await fetch(`${service.ready.http}/metrics`)).text(), "dataflex_sse_clients");
  expect(await open()).toBe(0);
  const tabs = [new AbortController(), new AbortController()];
  for (const { signal } of tabs) await fetch(`${service.ready.http}/api/v1/events`, { signal });
  await eventually(async () => (await open()) === 2);
  tabs[0]!.abort();
  await eventually(async () => (await open()) === 1);
  tabs[1]!.abort();
  await eventually(async () => (await open()) === 0);
});

test("a scrape with Redis away answers at once: redis_up 0, not ready, still alive", async () => {
  const away = await startTestRedis();
  own.later(() => away.stop());
  const broker = await new Broker({ redisUrl: away.url }).start();
  own.later(() => broker.stop());
  const http = await startHttp({
    role: "broker",
    listen: { ...listenOf("broker", undefined), port: 0 },
    metrics: createBrokerMetrics(withHistory(broker)),
    log: silentLogger,
    ...serviceChecks(() => broker.watched()),
  });
  own.later(() => http.close());
  const status = async (path: string): Promise<number> => (await fetch(`${http.address}${path}`)).status;
  await eventually(async () => (await status("/readyz")) === 200 && (await status("/healthz")) === 200);
  await away.stop();
  await eventually(async () => (await status("/readyz")) === 503);
  expect(await status("/healthz")).toBe(200);
  const started = performance.now();
  const page = await (await fetch(`${http.address}/metrics`)).text();
  expect(performance.now() - started).toBeLessThan(1_000);
  expect(valueIn(page, "dataflex_redis_up")).toBe(0);
  const body = (await (await fetch(`${http.address}/readyz`)).json()) as { checks: { name: string; ok: boolean }[] };
  expect(body.checks.filter((c) => !c.ok).map((c) => c.name)).toEqual(["redis_command", "redis_blocking"]);
});

testWith("prometheus")("promtool finds nothing to say about a full page, hostile names included", async () => {
  const leader = await own.leader();
  const handle = await own.mount('<img onerror="x">\\ \n{}', [specOf(), shadow]);
  await handle.settle("1.0", resultOf());
  await handle.release("1.0", 10);
  const page = await leader.until((p) => valueIn(p, "dataflex_trainer_wait_seconds_count") === 1);
  const { status, said } = promtool(["check", "metrics"], oursOf(page));
  expect([status, said]).toEqual([0, ""]);
});
