import { createHash } from "node:crypto";
import { Client } from "dataflex-mq";
import { Broker, Worker } from "dataflex-mq/server";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { blockingCall } from "../../src/redis/blocking.js";
import { connect, redisOptions } from "../../src/redis/connect.js";
import { runKeys } from "../../src/redis/keys.js";
import { type ScriptName, scriptSource } from "../../src/redis/scripts/run-script.js";
import { advantageStep, REWEIGHT, softmaxWeights, TOKEN, valuesOf, worst } from "../helpers/batches.js";
import { eventually, rejection } from "../helpers/eventually.js";
import { FaultProxy } from "../helpers/fault-proxy.js";
import { jobsAdded } from "../helpers/jobs.js";
import { startTestRedis, type TestRedis } from "../helpers/redis.js";

const STAGE = "post_advantage";
const LIMIT_MS = 120_000;
let redis: TestRedis;
let wires: { client: FaultProxy; broker: FaultProxy; worker: FaultProxy };
let client: Client;
let services: { stop(): Promise<void> }[];

beforeAll(async () => {
  redis = await startTestRedis();
  wires = {
    client: await FaultProxy.start(redis.url),
    broker: await FaultProxy.start(redis.url),
    worker: await FaultProxy.start(redis.url),
  };
  services = [];
  services.push(await new Broker({ redisUrl: wires.broker.url, walkMs: 500 }).start());
  services.push(await new Worker({ redisUrl: wires.worker.url, slots: 2 }).start());
  client = await Client.connect({ redisUrl: wires.client.url });
});
afterAll(async () => {
  await client.close();
  await Promise.all(services.map((s) => s.stop()));
  await Promise.all(Object.values(wires).map((w) => w.stop()));
  await redis.stop();
});

let runs = 0;
beforeEach(() => {
  for (const wire of Object.values(wires)) wire.cuts = 0;
});

const mount = (dataflex: unknown = REWEIGHT, run_id = `run-${runs++}`) =>
  client.mount({ run_id, dataflex, adv_estimator: "grpo", timeoutMs: 20_000 });
/** The bytes by which a call of a script is known on the wire. */
const callOf = (name: ScriptName): RegExp => new RegExp(createHash("sha1").update(scriptSource(name)).digest("hex"));

const [ROWS, WIDTH] = [40, 9_000];
const logProbs = (step: number) => {
  const data = Float32Array.from({ length: ROWS * WIDTH }, (_, i) => -((i * 31 + step * 7) % 89) / 40);
  return {
    old_log_probs: { data, shape: [ROWS, WIDTH] },
    response_mask: { data: new Uint8Array(data.length).fill(1), shape: [ROWS, WIDTH] },
  };
};
function tokenWeights(step: number): Float32Array {
  const raw = logProbs(step).old_log_probs.data.map((lp) => 0.5 + 0.5 * Math.exp(lp));
  const mean = raw.reduce((a, b) => a + b, 0) / raw.length;
  return raw.map((w) => w / mean);
}

describe("a lost answer", () => {
  test.each([
    ["the commit of a put", "client", callOf("commitPut")],
    ["a put's first chunk", "client", /multi\r\n/i],
    ["a put's later chunk", "client", /0-2\r\n/],
    ["the release", "client", callOf("release")],
    ["the wait", "client", /XREAD\r\n/i],
    ["begin", "worker", callOf("begin")],
    ["fetching chunks", "worker", /XRANGE/i],
    ["a result's first chunk", "worker", /multi\r\n/i],
    ["settling", "worker", callOf("settle")],
    ["taking a job", "worker", /:wait\r\n\$\d+\r\n\S*:active\r\n\$\d+\r\n\S*:prioritized\r\n/],
    ["finishing a job", "worker", /:(completed|failed)\r\n/],
    ["reading announcements", "broker", /XREADGROUP[\s\S]*BLOCK[\s\S]*:announce/i],
    ["adding a job", "broker", /:completed\r\n\$\d+\r\n\S*:delayed\r\n\$\d+\r\n\S*:active\r\n/],
    ["acknowledging", "broker", /XACK/i],
  ] as const)(
    "of %s: the step is processed once, with the right weights",
    async (_, who, pattern) => {
      const run = await mount(TOKEN);
      // Once without a fault: the server knows every script from then on, and a call of one is known by its digest.
      await run.put(0, STAGE, logProbs(0));
      await run.weights(0);
      await run.release(0);
      wires[who].cutReply(pattern);
      await run.put(1, STAGE, logProbs(1));
      const [p] = (await run.weights(1, { timeoutMs: 30_000 })).pipelines;
      expect(worst(p!.weights, tokenWeights(1))).toBeLessThan(1e-4);
      const { out } = runKeys(run.handle.run).step(run.handle.incarnation, "1.0");
      expect(await redis.raw.xlen(out)).toBe(1);
      expect(await run.release(1)).toBe("BURIED");
      await eventually(() => wires[who].cuts === 1, { what: "the cut" });
      expect(await jobsAdded(redis, run.handle.run)).toHaveLength(2);
      await eventually(async () => (await redis.keys(`${runKeys(run.handle.run).runBase}:*:1.0:*`)).length === 1, {
        what: "the tombstone alone",
      });
    },
    LIMIT_MS,
  );

  test(
    "of three in a hundred commands, on every wire: 60 steps, each right and settled once",
    async () => {
      const run = await mount();
      for (const [i, wire] of Object.values(wires).entries()) wire.cutAtRandom(0.03, 11 + i);
      const steps = Array.from({ length: 60 }, (_, i) => i);
      for (let i = 0; i < steps.length; i += 10) {
        await Promise.all(
          steps.slice(i, i + 10).map(async (n) => {
            await run.put(n, STAGE, { ...advantageStep(valuesOf(n)) });
            const [p] = (await run.weights(n, { timeoutMs: 60_000 })).pipelines;
            expect(worst(p!.weights, softmaxWeights(valuesOf(n)))).toBeLessThan(1e-5);
          }),
        );
      }
      for (const wire of Object.values(wires)) wire.cutAtRandom(0);
      for (const n of steps)
        expect(await redis.raw.xlen(runKeys(run.handle.run).step(run.handle.incarnation, `${n}.0`).out)).toBe(1);
      expect(wires.client.cuts + wires.broker.cuts + wires.worker.cuts).toBeGreaterThan(10);
    },
    LIMIT_MS,
  );
});

describe("a half-open connection", () => {
  test.each(["broker", "worker", "client"] as const)(
    "of the %s is found and replaced",
    async (who) => {
      const run = await mount();
      wires[who].freeze();
      const started = performance.now();
      await run.put(1, STAGE, { ...advantageStep(valuesOf(1)) }, { timeoutMs: 30_000 });
      const [p] = (await run.weights(1, { timeoutMs: 30_000 })).pipelines;
      expect(worst(p!.weights, softmaxWeights(valuesOf(1)))).toBeLessThan(1e-5);
      expect(performance.now() - started).toBeLessThan(20_000);
      expect(await redis.raw.xlen(runKeys(run.handle.run).step(run.handle.incarnation, "1.0").out)).toBe(1);
    },
    LIMIT_MS,
  );

  test("under a blocking command is noticed 2 s after the command should have ended, and differs from an idle end", async () => {
    const blocking = await connect(wires.client.url, "blocking");
    expect(await blockingCall(blocking, 100, () => blocking.xread("BLOCK", 100, "STREAMS", "none", "0"))).toBeNull();
    wires.client.freeze();
    const started = performance.now();
    const error = await rejection(
      blockingCall(blocking, 500, () => blocking.xread("BLOCK", 500, "STREAMS", "none", "0")),
    );
    expect(error.message).toContain("replaced");
    expect(performance.now() - started).toBeGreaterThan(2_400);
    expect(performance.now() - started).toBeLessThan(6_000);
    await eventually(() => blocking.status === "ready", { what: "the new connection" });
    blocking.disconnect();
  });

  test("that closes under a blocking command is noticed at once", async () => {
    const blocking = await connect(wires.client.url, "blocking");
    const reading = rejection(
      blockingCall(blocking, 5_000, () => blocking.xread("BLOCK", 5_000, "STREAMS", "none", "0")),
    );
    await eventually(async () => String(await redis.raw.client("LIST")).includes("cmd=xread"));
    const started = performance.now();
    wires.client.down();
    expect((await reading).message).toContain("closed");
    expect(performance.now() - started).toBeLessThan(1_000);
    // Nothing is queued up to run later, when nobody listens to it any more.
    expect((await rejection(blocking.xread("STREAMS", "none", "0"))).message).toContain("writeable");
    wires.client.up(redis.url);
    blocking.disconnect();
  });
});

describe("blocking reads", () => {
  test("never have a client-side deadline shorter than the server's", () => {
    const options = redisOptions("redis://localhost", "blocking");
    expect(options.commandTimeout).toBeUndefined();
    expect(options.socketTimeout).toBeUndefined();
    expect(options.autoResendUnfulfilledCommands).toBe(false);
  });

  test("have connections of their own: a put beside a long wait takes no longer than one alone", async () => {
    const run = await mount();
    const waiting = run.weights(99, { timeoutMs: 2_500 }).catch(() => {});
    await eventually(async () => String(await redis.raw.client("LIST")).includes("client-wait"));
    const started = performance.now();
    for (let n = 0; n < 5; n++) await run.put(n, STAGE, { ...advantageStep(valuesOf(n)) });
    expect(performance.now() - started).toBeLessThan(900);
    await waiting;
  });
});
