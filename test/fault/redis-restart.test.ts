import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "dataflex-mq";
import { Broker, Worker } from "dataflex-mq/server";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  advantageStep,
  REWEIGHT,
  rewardStep,
  SELECT,
  softmaxWeights,
  TOKEN,
  valuesOf,
  worst,
} from "../helpers/batches.js";
import { eventually, rejection } from "../helpers/eventually.js";
import { FaultProxy } from "../helpers/fault-proxy.js";
import { alive, stepKeysWithoutTtl } from "../helpers/leaks.js";
import { holders, SCORERS } from "../helpers/processes.js";
import { startTestRedis, type TestRedis } from "../helpers/redis.js";

const STAGE = "post_advantage";
const LIMIT_MS = 120_000;

/** A whole system that reaches Redis through one address, behind which the server may be replaced. */
let folder: string;
let redis: TestRedis;
let proxy: FaultProxy;
let client: Client;
let services: { stop(): Promise<void> }[];
const durable = (): string[] => ["--dir", folder, "--appendonly", "yes", "--appendfsync", "always"];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "dfx-restart-"));
  redis = await startTestRedis(durable());
  proxy = await FaultProxy.start(redis.url);
  services = [];
  services.push(await new Broker({ redisUrl: proxy.url }).start());
  services.push(await new Worker({ redisUrl: proxy.url, slots: 4, plugins: [SCORERS] }).start());
  client = await Client.connect({ redisUrl: proxy.url });
});
afterEach(async () => {
  await client.close();
  await Promise.all(services.map((s) => s.stop()));
  await proxy.stop();
  await redis.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Kills the server; another comes up behind the same address, with its data or without. */
async function restart(keepData: boolean, awayMs = 300): Promise<void> {
  process.kill(redis.pid, "SIGKILL");
  await eventually(() => !alive(redis.pid));
  proxy.down();
  const old = redis;
  const back = startTestRedis(keepData ? durable() : []);
  await Promise.all([back, new Promise((resolve) => setTimeout(resolve, awayMs))]);
  redis = await back;
  proxy.up(redis.url);
  await old.stop();
}
const mount = (run_id: string, dataflex: unknown = REWEIGHT) =>
  client.mount({ run_id, dataflex, adv_estimator: "grpo", timeoutMs: 20_000 });
const gated = { ...REWEIGHT, scorer: { name: "gated", params: {} as { folder: string } } };

test.each([
  ["empty", false],
  ["with its data", true],
])(
  "Redis restarted %s in the middle of a wait: the right weights come all the same",
  async (_, keepData) => {
    gated.scorer.params = { folder };
    const run = await mount("waiting", gated);
    const values = valuesOf(1);
    await run.put(1, STAGE, { ...advantageStep(values) });
    const weights = run.weights(1, { timeoutMs: 40_000 });
    await eventually(() => holders(folder, "waiting", 1).length === 1);
    await restart(keepData);
    writeFileSync(join(folder, "open"), "");
    expect(worst((await weights).pipelines[0]!.weights, softmaxWeights(values))).toBeLessThan(1e-5);
    // And the run goes on.
    await run.put(2, STAGE, { ...advantageStep(valuesOf(2)) });
    const [next] = (await run.weights(2, { timeoutMs: 20_000 })).pipelines;
    expect(worst(next!.weights, softmaxWeights(valuesOf(2)))).toBeLessThan(1e-5);
    expect(await run.release(1)).toBe("BURIED");
  },
  LIMIT_MS,
);

test(
  "Redis restarted empty between put and wait, and again, with puts of two producers",
  async () => {
    const run = await mount("ranks", SELECT);
    const other = await Client.connect({ redisUrl: proxy.url });
    const rank = await other.attach("ranks");
    const { rm_scores, response_mask, uid } = rewardStep([1, 0, 1, 1], 2);
    await run.put(1, "post_reward", { response_mask, uid });
    await restart(false);
    await rank.put(1, "post_reward", { rm_scores: rm_scores.slice(0, 2) }, { rows: [0, 2], total_rows: 4 });
    await restart(false);
    await rank.put(1, "post_reward", { rm_scores: rm_scores.slice(2) }, { rows: [2, 4], total_rows: 4 });
    // The other producer waits for nothing, and yet puts again what was lost.
    const [p] = (await run.weights(1, { timeoutMs: 30_000 })).pipelines;
    expect(Array.from(p!.weights)).toEqual([1, 1, 0, 0]);
    await other.close();
  },
  LIMIT_MS,
);

test(
  "Redis emptied again and again while large puts are on their way: they arrive whole, and nothing is left without an end",
  async () => {
    const run = await mount("emptied", TOKEN);
    const [rows, width] = [40, 30_000];
    const fields = (n: number) => {
      const data = Float32Array.from({ length: rows * width }, (_, i) => -((i * 31 + n) % 89) / 40);
      return {
        old_log_probs: { data, shape: [rows, width] },
        response_mask: { data: new Uint8Array(data.length).fill(1), shape: [rows, width] },
      };
    };
    let putting = true;
    const emptying = (async () => {
      while (putting) {
        await redis.raw.flushall();
        await new Promise((resolve) => setTimeout(resolve, 60));
      }
    })();
    const puts = await Promise.allSettled([1, 2, 3].map((n) => run.put(n, STAGE, fields(n))));
    putting = false;
    await emptying;
    // A put may give up in such a storm; made again, it arrives.
    for (const [i, put] of puts.entries()) if (put.status === "rejected") await run.put(i + 1, STAGE, fields(i + 1));
    for (const n of [1, 2, 3])
      expect((await run.weights(n, { timeoutMs: 30_000 })).pipelines[0]!.weights).toHaveLength(rows * width);
    expect(await stepKeysWithoutTtl(redis)).toEqual([]);
  },
  LIMIT_MS,
);

test(
  "a put while Redis is away waits for it, or ends at its deadline with its name",
  async () => {
    const run = await mount("away", TOKEN);
    const data = Float32Array.from({ length: 40 * 30_000 }, (_, i) => -Math.abs(Math.sin(i)));
    const fields = {
      old_log_probs: { data, shape: [40, 30_000] },
      response_mask: { data: new Uint8Array(data.length).fill(1), shape: [40, 30_000] },
    };
    proxy.down();
    const started = performance.now();
    expect(await rejection(run.put(1, STAGE, fields, { timeoutMs: 400 }))).toMatchObject({
      code: "REDIS_UNREACHABLE",
      message: expect.stringContaining("put of step 1.0"),
    });
    expect(await rejection(run.weights(1, { timeoutMs: 400 }))).toMatchObject({
      code: "TIMEOUT",
      message: expect.stringContaining("Redis has not answered"),
    });
    expect(performance.now() - started).toBeLessThan(8_000);
    const late = run.put(2, STAGE, fields);
    proxy.up(redis.url);
    expect((await late).kind).toBe("NEW");
    expect((await run.weights(2, { timeoutMs: 30_000 })).pipelines[0]!.weights).toHaveLength(data.length);
  },
  LIMIT_MS,
);

test(
  "mount and attach end at their deadline when Redis goes away",
  async () => {
    proxy.down();
    const started = performance.now();
    const [m, a] = await Promise.all([
      rejection(client.mount({ run_id: "x", dataflex: REWEIGHT, timeoutMs: 300 })),
      rejection(client.attach("x")),
    ]);
    expect([m.code, a.code]).toEqual(["REDIS_UNREACHABLE", "REDIS_UNREACHABLE"]);
    expect(performance.now() - started).toBeLessThan(15_000);
    proxy.up(redis.url);
  },
  LIMIT_MS,
);

test(
  "a server that answers the first time only: connect says what it cannot reach",
  async () => {
    proxy.down();
    const error = await rejection(Client.connect({ redisUrl: proxy.url, connectTimeoutMs: 500 }));
    expect(error).toMatchObject({ code: "REDIS_UNREACHABLE", message: expect.stringContaining(proxy.url) });
    proxy.up(redis.url);
  },
  LIMIT_MS,
);
