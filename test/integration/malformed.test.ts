import { describe, expect, test } from "vitest";
import type { DataflexError } from "../../src/errors.js";
import { withHistory } from "../../src/observe/history/history-sink.js";
import { createBrokerMetrics } from "../../src/observe/metrics/broker-recorder.js";
import { readOverview } from "../../src/observe/status/overview.js";
import { pack, unpack } from "../../src/protocol/codec.js";
import { QUEUE_PREFIX, runKeys } from "../../src/redis/keys.js";
import { advantageStep, softmaxWeights, worst } from "../helpers/batches.js";
import { eventually, rejection } from "../helpers/eventually.js";
import { resultOf } from "../helpers/executions.js";
import { valueIn } from "../helpers/metrics.js";
import { useSystem } from "../helpers/system.js";

const system = useSystem();
const STAGE = "post_advantage";

const stepWorks = async (run: Awaited<ReturnType<typeof system.mount>>, step: number): Promise<void> => {
  await run.put(step, STAGE, { ...advantageStep([1, 2]) });
  expect(worst((await run.weights(step)).pipelines[0]!.weights, softmaxWeights([1, 2]))).toBeLessThan(1e-5);
  await run.release(step);
};

/** Without its queue's workers taking anything while `work` runs: what lies in Redis can be changed before it is read. */
async function beforeTheWorker(work: () => Promise<void>): Promise<void> {
  await Promise.all(system.workers.splice(0).map((w) => w.stop()));
  try {
    await work();
  } finally {
    await system.worker();
  }
}

describe("a malformed message harms nobody else", () => {
  test.each([
    ["without chunk_bytes", ({ chunk_bytes: _, ...header }: Record<string, unknown>) => header, "chunk_bytes"],
    [
      "with chunk_bytes 1e-300",
      (header: Record<string, unknown>) => ({ ...header, chunk_bytes: 1e-300 }),
      "chunk_bytes",
    ],
    ["that is nil", () => null, "it"],
    ["of other rows", (header: Record<string, unknown>) => ({ ...header, rows: [0, 1] }), "columns:"],
    ["of another stage", (header: Record<string, unknown>) => ({ ...header, stage: "post_reward" }), "stage"],
  ])("a put header %s fails its step as DECODE", async (_, change, key) => {
    const run = await system.mount();
    await beforeTheWorker(async () => {
      await run.put(0, STAGE, { ...advantageStep([1, 2]) });
      const { puts } = runKeys(run.handle.run).step(run.handle.incarnation, "0.0");
      const fields = await system.redis.raw.hkeys(puts);
      const field = fields.find((f) => f.startsWith(`header:${STAGE}:`))!;
      const header = unpack((await system.redis.raw.hgetBuffer(puts, field))!) as Record<string, unknown>;
      await system.redis.raw.hset(puts, field, Buffer.from(pack(change(header))));
    });
    const error = await rejection(run.weights(0));
    expect([error.code, (error as DataflexError).details.key]).toEqual(["DECODE", key]);
    await stepWorks(run, 1);
  });

  test("a job that nobody can read leaves its queue", async () => {
    const run = await system.mount();
    const [queue] = system.workers[0]!.queues.filter((q) => q.startsWith(STAGE));
    const { Queue } = await import("bullmq");
    const producer = new Queue(queue!, { connection: system.redis.raw, prefix: QUEUE_PREFIX });
    for (const data of [{}, null, { run: 7 }, { run: "r", incarnation: Number.NaN }])
      await producer.add("step", data, { attempts: 3, removeOnFail: true });
    await stepWorks(run, 0);
    await eventually(async () => (await producer.getJobCountByTypes("wait", "active", "failed", "delayed")) === 0, {
      what: "the end of unreadable jobs",
    });
    await producer.close();
  });

  test("a notice with a wrong key goes to the dead letters; metrics and history of other runs go on", async () => {
    const broker = system.brokers[0]!;
    const metrics = createBrokerMetrics(withHistory(broker));
    const run = await system.mount();
    const { notices, dead, history } = runKeys(run.handle.run);
    const lettersBefore = await system.redis.raw.xlen(dead);
    const malformed = [
      { ...resultOf(), warnings: "text" },
      { ...resultOf(), extremes: { rows: [1] } },
      { ...resultOf(), distribution: { weights: { counts: [1], sum: 1 } } },
      { ...resultOf(), proportions: 1 },
      { ...resultOf(), stats: null },
    ];
    for (const header of malformed) {
      const fields = ["kind", "settled", "run", run.handle.run, "inc", String(run.handle.incarnation), "step", "9.0"];
      await system.redis.raw.xadd(
        notices,
        "*",
        ...fields,
        "pipeline",
        "main",
        "ms",
        "1",
        "header",
        Buffer.from(pack(header)),
      );
    }
    await stepWorks(run, 0);
    await eventually(
      async () => {
        await metrics.refresh();
        const page = await metrics.text();
        return valueIn(page, "dataflex_steps_total", { run: run.handle.run, outcome: "applied" }) === 1;
      },
      { what: "the metrics of the step behind them", timeoutMs: 20_000 },
    );
    expect(await system.redis.raw.xlen(dead)).toBe(lettersBefore + malformed.length);
    expect(await system.redis.raw.xlen(history)).toBeGreaterThan(0);
  });

  test.each([
    ["is {}", Buffer.from(pack({}))],
    ["is no message", Buffer.from("text")],
    ["is bytes", Buffer.from(pack(new Uint8Array(3)))],
  ])("a mount whose handle %s is skipped by the walk and the overview", async (_, handle) => {
    const behind = await system.mount();
    const broken = await system.mount();
    await behind.put(0, STAGE, { ...advantageStep([1, 2]) });
    await behind.weights(0);
    const keys = runKeys(behind.handle.run);
    await system.redis.raw.hset(runKeys(broken.handle.run).mount, "handle", handle);
    // A step of the run behind the broken one that Redis has forgotten: only the walk takes it off the index.
    await system.redis.raw.zadd(keys.steps, Date.now() + 60_000, `${behind.handle.incarnation}:77.0`);
    await eventually(
      async () => !(await system.redis.raw.zrange(keys.steps, "0", "-1")).includes(`${behind.handle.incarnation}:77.0`),
      { what: "a walk past the broken mount" },
    );
    const { runs } = await readOverview(system.redis.raw, system.brokers[0]!.queues);
    expect(runs.map((r) => r.run)).toContain(behind.handle.run);
    expect(runs.map((r) => r.run)).not.toContain(broken.handle.run);
    const attached = await rejection((await system.client()).attach(broken.handle.run));
    expect(attached.code).toBe("DECODE");
    await system.redis.raw.del(runKeys(broken.handle.run).mount);
  });
});

test("with Redis full, a step that cannot be settled does not hold up the walk for the runs behind it", async () => {
  const behind = await system.mount();
  const full = await system.mount();
  await beforeTheWorker(async () => {
    await full.put(0, STAGE, { ...advantageStep([1, 2]) });
    const late = runKeys(full.handle.run);
    const member = `${behind.handle.incarnation}:77.0`;
    const { steps } = runKeys(behind.handle.run);
    const broker = system.brokers[0]!;
    await system.redis.raw.hset(late.step(full.handle.incarnation, "0.0").status, "deadline", 1);
    await system.redis.raw.zadd(steps, Date.now() + 60_000, member);
    await system.redis.raw.config("SET", "maxmemory", "1");
    try {
      await eventually(async () => !(await system.redis.raw.zrange(steps, "0", "-1")).includes(member), {
        what: "a walk past the step that cannot be settled",
      });
      expect(broker.isReady).toBe(true);
    } finally {
      await system.redis.raw.config("SET", "maxmemory", "0");
    }
  });
  expect((await rejection(full.weights(0))).code).toBe("EXPIRED");
});
