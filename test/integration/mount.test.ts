import { Broker, Worker } from "dataflex-mq/server";
import { describe, expect, test } from "vitest";
import { pack, unpack } from "../../src/protocol/codec.js";
import { redisNow } from "../../src/redis/connect.js";
import { encodeRun, runKeys, sharedKeys } from "../../src/redis/keys.js";
import { advantageStep, REWEIGHT, softmaxWeights, worst } from "../helpers/batches.js";
import { eventually, rejection } from "../helpers/eventually.js";
import { startTestRedis } from "../helpers/redis.js";
import { System, useSystem } from "../helpers/system.js";

describe("mount", () => {
  const system = useSystem();

  test.each([
    ["sound", { v: [1], kind: "mount", mount_id: "old" }],
    ["unsound", "garbage"],
  ])("a %s request of an earlier protocol is answered or taken away, and the log says so", async (_, request) => {
    await system.redis.raw.xadd("dfx1:control", "*", "request", Buffer.from(pack(request)));
    await eventually(async () => (await system.redis.raw.xlen("dfx1:control")) === 0, { what: "the request is gone" });
    const raw = await system.redis.raw.getBuffer("dfx1:reply:old");
    if (typeof request === "string") return;
    expect(unpack(raw!)).toMatchObject({
      state: "answered",
      answer: { ok: false, code: "PROTOCOL_VERSION", message: expect.stringContaining("upgrade the client") },
    });
    expect(await system.redis.raw.pttl("dfx1:reply:old")).toBeGreaterThan(0);
  });

  test("answers with run, incarnation, protocol, limits and the exact fields per stage", async () => {
    const { handle } = await system.mount(REWEIGHT, { run_id: "answers" });
    expect(handle).toMatchObject({ v: 2, run: "answers", on_unavailable: "error", max_wait_ms: 300_000 });
    expect(handle.incarnation).toBeGreaterThan(1.7e12);
    expect(handle.stages).toEqual({ post_advantage: handle.pipelines[0]!.fields });
    expect(handle.pipelines[0]!.fields.map((f) => f.name).sort()).toEqual(["advantages", "response_mask"]);
    expect(handle.limits.chunk_bytes).toBeGreaterThan(0);
  });

  test("the same mount id gets the same answer, even for another configuration", async () => {
    const first = await system.mount(REWEIGHT, { run_id: "same", mount_id: "m-1" });
    const again = await system.mount({ ...REWEIGHT, max_wait_ms: 77 }, { run_id: "same", mount_id: "m-1" });
    expect(again.handle).toEqual(first.handle);
    // The answer under the reply key is forgotten; the mount itself is not.
    await system.redis.raw.del(sharedKeys.reply("m-1"));
    const late = await system.mount(REWEIGHT, { run_id: "same", mount_id: "m-1" });
    expect(late.handle).toEqual(first.handle);
  });

  test("a run with a living trainer is busy, until it is taken over; the old one is fenced", async () => {
    const old = await system.mount(REWEIGHT, { run_id: "busy" });
    const busy = await rejection(system.mount(REWEIGHT, { run_id: "busy" }));
    expect(busy).toMatchObject({ code: "RUN_BUSY" });
    expect(busy.message).toContain(`incarnation ${old.handle.incarnation}`);
    const taken = await system.mount(REWEIGHT, { run_id: "busy", takeover: true });
    expect(taken.handle.incarnation).toBeGreaterThan(old.handle.incarnation);

    const step = advantageStep([1, 2, 3]);
    expect(await rejection(old.put(1, "post_advantage", { ...step }))).toMatchObject({ code: "FENCED" });
    // A wait finds out as well, long before its deadline.
    expect(await rejection(old.weights(1, { timeoutMs: 20_000 }))).toMatchObject({ code: "FENCED" });
    await taken.put(1, "post_advantage", { ...step });
    const got = await taken.weights(1);
    expect(worst(got.pipelines[0]!.weights, softmaxWeights([1, 2, 3]))).toBeLessThan(1e-5);
  });

  test("a refused mount may be asked again under its id", async () => {
    const holder = await system.mount(REWEIGHT, { run_id: "again" });
    expect(await rejection(system.mount(REWEIGHT, { run_id: "again", mount_id: "m-2" }))).toMatchObject({
      code: "RUN_BUSY",
    });
    await holder.close();
    const { handle } = await system.mount(REWEIGHT, { run_id: "again", mount_id: "m-2" });
    expect(handle.incarnation).toBeGreaterThan(holder.handle.incarnation);
  });

  test("a mount request read again after its answer mounts nothing", async () => {
    const first = await system.mount(REWEIGHT, { run_id: "replayed", mount_id: "m-3", takeover: true });
    const second = await system.mount(REWEIGHT, { run_id: "replayed", takeover: true });
    const request = {
      v: [1],
      kind: "mount",
      mount_id: "m-3",
      run: "replayed",
      dataflex: REWEIGHT,
      adv_estimator: "grpo",
      takeover: true,
      deadline: (await redisNow(system.redis.raw)) + 10_000,
    };
    await system.redis.raw.xadd(sharedKeys.control, "*", "request", Buffer.from(pack(request)));
    await eventually(async () => (await system.redis.raw.xlen(sharedKeys.control)) === 0);
    expect(first.handle.incarnation).toBeLessThan(second.handle.incarnation);
    expect(await system.redis.raw.hget(runKeys("replayed").mount, "inc")).toBe(String(second.handle.incarnation));
  });

  test("a client that speaks no common protocol is told so", async () => {
    const deadline = (await redisNow(system.redis.raw)) + 10_000;
    const request = {
      v: [98, 99],
      kind: "mount",
      mount_id: "m-9",
      run: "old",
      dataflex: REWEIGHT,
      takeover: false,
      deadline,
    };
    await system.redis.raw.xadd(sharedKeys.control, "*", "request", Buffer.from(pack(request)));
    const raw = await eventually(() => system.redis.raw.getBuffer(sharedKeys.reply("m-9")));
    expect(unpack(raw)).toMatchObject({
      answer: { ok: false, code: "PROTOCOL_VERSION", message: expect.stringContaining("98, 99") },
    });
  });

  test("closing says goodbye: the run can be mounted at once", async () => {
    const first = await system.mount(REWEIGHT, { run_id: "goodbye" });
    await first.close();
    const second = await system.mount(REWEIGHT, { run_id: "goodbye" });
    expect(second.handle.incarnation).toBeGreaterThan(first.handle.incarnation);
  });

  test("attach joins a mounted run, fences nobody, and refuses an unknown one", async () => {
    const owner = await system.mount(REWEIGHT, { run_id: "ranks" });
    const other = await (await system.client()).attach("ranks");
    expect(other.handle).toEqual(owner.handle);
    await other.put(5, "post_advantage", { ...advantageStep([1, 2]) });
    expect((await owner.weights(5)).pipelines[0]!.rows).toBe(2);
    expect(await rejection((await system.client()).attach("nobody"))).toMatchObject({ code: "NOT_MOUNTED" });
  });

  test("an incarnation is never handed out twice, not even by a flushed Redis", async () => {
    const before = await system.mount(REWEIGHT, { run_id: "flushed" });
    await system.closeClients();
    await system.redis.flush();
    await eventually(async () => (await system.redis.keys("dfx2:worker:*")).length > 0, { what: "the worker's beat" });
    const after = await system.mount(REWEIGHT, { run_id: "flushed" });
    expect(after.handle.incarnation).toBeGreaterThan(before.handle.incarnation);
  });

  test.each([
    ["of punctuation", "exp:7/lr=1e-6 [a]{b}~*?"],
    ["in unicode", "héllo-世界-🚀"],
    ["of 300 characters", "x".repeat(300)],
    ["that differs in its 300th character", `${"x".repeat(299)}y`],
    ["that is a number", "42"],
    ["that is zero", "0"],
    ["that is negative", "-1"],
    ["with the name of a method", "__proto__"],
  ])("a run name %s works from mount to release", async (_, run_id) => {
    const run = await system.mount(REWEIGHT, { run_id });
    await run.put(42, "post_advantage", { ...advantageStep([0.5, -1.5]) });
    const got = await run.weights(42);
    expect(worst(got.pipelines[0]!.weights, softmaxWeights([0.5, -1.5]))).toBeLessThan(1e-5);
    expect(got.pipelines[0]!.producer.job_id).not.toContain(":");
    expect(encodeRun(run_id)).toMatch(/^[A-Za-z0-9._-]{1,96}$/);
    expect(await run.release(42)).toBe("BURIED");
  });

  test("an empty name is refused", async () => {
    expect(await rejection(system.mount(REWEIGHT, { run_id: "" }))).toMatchObject({ code: "INVALID_INPUT" });
  });

  test("every problem of a configuration comes at once, with its place", async () => {
    const block = {
      ...REWEIGHT,
      scorer: { name: "advantage_magnitud" },
      actuator: { name: "softmax", params: { temprature: 1 } },
    };
    const error = await rejection(system.mount(block));
    expect(error).toMatchObject({ code: "CONFIG" });
    expect(error.message).toContain("advantage_magnitude");
    expect(error.message).toContain("temperature");
  });

  test.each([
    ["a block that is no mapping", { dataflex: 7 }],
    ["no block at all", { dataflex: null }],
    ["an estimator that is no text", { adv_estimator: 5 }],
    ["fields that are no list", { provides: 3 }],
    ["a group size that is no number", { group_size: {} }],
  ])("a mount with %s is answered, and the next one as well", async (_, more) => {
    const error = await rejection(system.mount(REWEIGHT, { ...(more as object), timeoutMs: 3_000 }));
    expect(["CONFIG", "INTERNAL", "INVALID_INPUT"]).toContain(error.code);
    expect((await system.mount()).handle.v).toBe(2);
  });

  test("entries that cannot be read go to the dead stream with their ids, and the loop goes on", async () => {
    const { raw } = system.redis;
    const { dead, announce } = runKeys("x");
    const bad = [
      await raw.xadd(sharedKeys.control, "*", "request", Buffer.from([0xdd, 0xff, 0xff, 0xff, 0xff, 0x00])),
      await raw.xadd(sharedKeys.control, "*", "request", Buffer.concat([pack({ a: 1 }), pack({ b: 2 })])),
      await raw.xadd(
        sharedKeys.control,
        "*",
        "request",
        Buffer.from(pack({ kind: "mount", run: "r" })).subarray(0, -1),
      ),
      await raw.xadd(sharedKeys.control, "*", "other", ""),
      await raw.xadd(announce, "*", "run", "x", "inc", "NaN", "step", "1.0", "stage", "post_advantage"),
      await raw.xadd(announce, "*", "__proto__", "x"),
      await raw.xadd(announce, "*", "run", "x", "inc", "12", "step", "one", "stage", "post_advantage"),
    ];
    await eventually(async () => {
      const ids = (await raw.xrange(dead, "-", "+")).map(([, fields]) => fields[fields.indexOf("entry") + 1]);
      return bad.every((id) => ids.includes(id!));
    });
    expect((await system.mount()).handle.v).toBe(2);
    expect(await raw.xlen(announce)).toBe(0);
    expect(await raw.xlen(sharedKeys.control)).toBe(0);
  });
});

describe("mount before the services", () => {
  test("says which service was missing, and succeeds when it comes", async () => {
    const system = new System();
    system.redis = await startTestRedis();
    try {
      expect(await rejection(system.mount(REWEIGHT, { timeoutMs: 300 }))).toMatchObject({
        code: "NO_BROKER",
        message: expect.stringContaining("dataflex-mq broker"),
      });
      const early = system.mount(REWEIGHT, { timeoutMs: 20_000 });
      await system.broker();
      expect(await rejection(system.mount(REWEIGHT, { timeoutMs: 500 }))).toMatchObject({
        code: "NO_WORKER",
        message: expect.stringContaining("dataflex-mq worker"),
      });
      await system.worker();
      expect((await early).handle.v).toBe(2);
    } finally {
      await system.stop();
    }
  });

  test("a Redis that evicts is refused by broker and worker, with the setting to change", async () => {
    await using redis = await startTestRedis(["--maxmemory-policy", "allkeys-lru"]);
    for (const service of [new Broker({ redisUrl: redis.url }), new Worker({ redisUrl: redis.url })]) {
      expect(await rejection(service.start())).toMatchObject({
        code: "REDIS_CONFIG",
        message: expect.stringContaining("noeviction"),
      });
    }
    await eventually(async () => (await redis.connections()).length === 0);
  });
});
