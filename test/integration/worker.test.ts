import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Run } from "dataflex-mq";
import { Worker } from "dataflex-mq/server";
import { describe, expect, test, vi } from "vitest";
import { runKeys } from "../../src/redis/keys.js";
import { advantageStep, REWEIGHT, softmaxWeights, valuesOf, worst } from "../helpers/batches.js";
import { eventually, rejection } from "../helpers/eventually.js";
import { jobEvents, jobsAdded } from "../helpers/jobs.js";
import { startTestRedis } from "../helpers/redis.js";
import { System, useSystem } from "../helpers/system.js";

const PLUGIN = fileURLToPath(new URL("../helpers/plugins/scorers.ts", import.meta.url));
const STAGE = "post_advantage";
const system = useSystem({ workers: [] });
const scoredBy = (name: string, params: object) => ({ ...REWEIGHT, scorer: { name, params } });
const newFolder = (): string => mkdtempSync(join(tmpdir(), "dfx-worker-"));

/** Workers that serve while `work` runs, and no others. */
async function withWorkers(
  options: Parameters<System["worker"]>[0][],
  work: (workers: Worker[]) => Promise<void>,
): Promise<void> {
  const workers = await Promise.all(options.map((o) => system.worker(o)));
  try {
    await work(workers);
  } finally {
    await system.closeClients();
    await Promise.all(workers.map((w) => w.stop()));
    system.workers.length = 0;
  }
}
async function serve(run: Run, steps: readonly number[]): Promise<string[]> {
  await Promise.all(steps.map((n) => run.put(n, STAGE, { ...advantageStep(valuesOf(n)) })));
  const results = await Promise.all(steps.map((n) => run.weights(n, { timeoutMs: 30_000 })));
  for (const [i, n] of steps.entries())
    expect(worst(results[i]!.pipelines[0]!.weights, softmaxWeights(valuesOf(n)))).toBeLessThan(1e-5);
  return results.map((r) => r.pipelines[0]!.producer.worker);
}

describe("workers", () => {
  test("four idle ones share eight jobs of 300 ms; none of them gets all", async () => {
    await withWorkers(Array(4).fill({ plugins: [PLUGIN] }), async (workers) => {
      const run = await system.mount(scoredBy("slow", { ms: 300 }));
      const started = performance.now();
      const by = await serve(run, [0, 1, 2, 3, 4, 5, 6, 7]);
      const shares = workers.map((w) => by.filter((id) => id === w.id).length);
      expect(Math.max(...shares)).toBeLessThan(8);
      expect(shares.filter((n) => n > 0).length).toBeGreaterThanOrEqual(3);
      // One after the other would take 2,400 ms of sleep alone.
      expect(performance.now() - started).toBeLessThan(2_000);
    });
  });

  test("one takes no more jobs than it has slots, whatever the queue", async () => {
    const folder = newFolder();
    await withWorkers([{ slots: 2, plugins: [PLUGIN] }], async ([worker]) => {
      const gated = await system.mount(scoredBy("gated", { folder }));
      const plain = await system.mount();
      for (const n of [1, 2, 3]) await gated.put(n, STAGE, { ...advantageStep(valuesOf(n)) });
      await eventually(() => worker!.active === 2);
      await plain.put(1, STAGE, { ...advantageStep(valuesOf(1)) });
      await eventually(async () => (await jobsAdded(system.redis, plain.handle.run)).length === 1);
      expect((await jobEvents(system.redis, plain.handle.run)).filter((e) => e.event === "active")).toEqual([]);
      expect((await jobEvents(system.redis, gated.handle.run)).filter((e) => e.event === "active")).toHaveLength(2);
      writeFileSync(join(folder, "open"), "");
      await Promise.all([serve(gated, [1, 2, 3]), serve(plain, [1])]);
    });
  });

  test("a job of a plugin goes only to workers that have it, idle ones or not", async () => {
    await withWorkers([{}, { plugins: [PLUGIN] }, {}], async (workers) => {
      const run = await system.mount(scoredBy("slow", { ms: 20 }));
      expect(new Set(await serve(run, [0, 1, 2, 3]))).toEqual(new Set([workers[1]!.id]));
    });
  });

  test("bytes are fetched for the fields that a pipeline reads, and for no others", async () => {
    const attempts: { pipeline: string; readBytes: number }[] = [];
    const onExecution = (a: { job: { pipeline: string }; readBytes: number }): void =>
      void attempts.push({ pipeline: a.job.pipeline, readBytes: a.readBytes });
    await withWorkers([{ onExecution }], async () => {
      const run = await system.mount({
        pipelines: {
          small: REWEIGHT,
          large: { mechanism: "reweight", scorer: { name: "token_prob" }, actuator: { name: "advantage_reweight" } },
        },
      });
      const [rows, width] = [64, 4_000];
      const data = Float32Array.from({ length: rows * width }, (_, i) => -Math.abs(Math.sin(i)));
      await run.put(1, STAGE, {
        old_log_probs: { data, shape: [rows, width] },
        advantages: Array.from({ length: rows }, (_, i) => Array(width).fill(i / 7)),
        response_mask: { data: new Uint8Array(rows * width).fill(1), shape: [rows, width] },
      });
      await run.weights(1);
      const read = (name: string): number => attempts.find((a) => a.pipeline === name)!.readBytes;
      expect(read("large")).toBeGreaterThan(data.byteLength);
      expect(read("small")).toBeLessThan(10_000);
    });
  });
});

describe("compute", () => {
  test.each(["endless", "never"])(
    "that is %s ends at its limit as COMPUTE_TIMEOUT; the worker goes on",
    async (how) => {
      await withWorkers([{ plugins: [PLUGIN], computeLimitMs: 600 }], async ([worker]) => {
        const run = await system.mount(scoredBy("unlucky", { how }));
        await run.put(13, STAGE, { ...advantageStep([1, 2]) });
        const error = await rejection(run.weights(13, { timeoutMs: 15_000 }));
        expect(error).toMatchObject({ code: "COMPUTE_TIMEOUT" });
        expect(new Set(await serve(run, [1, 2]))).toEqual(new Set([worker!.id]));
      });
    },
  );

  test("that loops after it has given its scores keeps its step, is named, and costs the next job nothing", async () => {
    const said = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    try {
      await withWorkers([{ plugins: [PLUGIN], computeLimitMs: 10_000 }], async () => {
        const guilty = await system.mount(scoredBy("unlucky", { how: "endless-later" }));
        const innocent = await system.mount();
        await guilty.put(13, STAGE, { ...advantageStep(valuesOf(13)) });
        expect(worst((await guilty.weights(13)).pipelines[0]!.weights, softmaxWeights(valuesOf(13)))).toBeLessThan(
          1e-5,
        );
        await serve(innocent, [1, 2]);
        const text = said.mock.calls.map(([line]) => String(line)).join("");
        expect(text).toContain('did not let go after pipeline "main", scorer "unlucky", actuator "softmax"');
      });
    } finally {
      said.mockRestore();
    }
  });

  test("whose thread hangs while it starts is a typed error in time, and not up until one starts", async () => {
    const hang = join(newFolder(), "hang");
    const file = join(newFolder(), "hangs.mjs");
    writeFileSync(
      file,
      `import { existsSync } from "node:fs";\nwhile (existsSync(${JSON.stringify(hang)}));\nexport { unlucky } from ${JSON.stringify(PLUGIN)};\n`,
    );
    // As built: its thread runs what ships.
    const built = fileURLToPath(new URL("../../dist/src/worker/compute/host.js", import.meta.url));
    const { ComputeHost }: typeof import("../../src/worker/compute/host.js") = await import(built);
    const { workerCatalogues }: typeof import("../../src/mounting/catalogue/worker-catalogues.js") = await import(
      fileURLToPath(new URL("../../dist/src/mounting/catalogue/worker-catalogues.js", import.meta.url))
    );
    const fingerprint = (await workerCatalogues([file])).at(-1)!.fingerprint;
    const host = new ComputeHost({ backend: "cpu", plugins: [file], python: [], fingerprint }, undefined, 3_000);
    try {
      writeFileSync(hang, "");
      const error = await rejection(host.start());
      expect(error).toMatchObject({
        code: "COMPUTE_LOST",
        message: expect.stringContaining("did not start within 3000 ms"),
      });
      expect(host.isUp).toBe(false);
      rmSync(hang);
      expect(await host.start()).toBe("cpu");
      expect(host.isUp).toBe(true);
    } finally {
      await host.stop();
    }
  });

  test("that blocks its thread for 8 s keeps its job: one attempt, one outcome", async () => {
    const folder = newFolder();
    await withWorkers([{ plugins: [PLUGIN] }, { plugins: [PLUGIN] }], async () => {
      const run = await system.mount(scoredBy("spinning", { ms: 8_000, folder }));
      await serve(run, [1]);
      expect(readFileSync(join(folder, "spun"), "utf8").trim().split("\n")).toHaveLength(1);
      expect((await jobEvents(system.redis, run.handle.run)).map((e) => e.event)).not.toContain("stalled");
      const { out } = runKeys(run.handle.run).step(run.handle.incarnation, "1.0");
      expect(await system.redis.raw.xlen(out)).toBe(1);
    });
  });

  test("of a job whose lock is lost runs twice, and one outcome counts", async () => {
    const folder = newFolder();
    await withWorkers([{ plugins: [PLUGIN] }, { plugins: [PLUGIN] }], async (workers) => {
      const run = await system.mount(scoredBy("gated", { folder }));
      await run.put(1, STAGE, { ...advantageStep(valuesOf(1)) });
      await eventually(() => workers.some((w) => w.active === 1));
      await eventually(
        async () => {
          const locks = await system.redis.keys("dfx2:{q}:*:lock");
          if (locks.length > 0) await system.redis.raw.del(...locks);
          return workers.every((w) => w.active === 1);
        },
        { what: "the same job in both workers", timeoutMs: 15_000 },
      );
      writeFileSync(join(folder, "open"), "");
      await serve(run, [1]);
      await eventually(() => workers.every((w) => w.active === 0));
      const { out } = runKeys(run.handle.run).step(run.handle.incarnation, "1.0");
      expect(await system.redis.raw.xlen(out)).toBe(1);
    });
  });

  test("of a step whose bytes are gone settles as a typed failure", async () => {
    let run!: Run;
    await withWorkers([{}], async () => {
      run = await (await system.client()).mount({ run_id: "gone", dataflex: REWEIGHT, timeoutMs: 5_000 });
      const { handle } = run;
      await Promise.all(system.workers.map((w) => w.stop()));
      await run.put(1, STAGE, { ...advantageStep([1, 2]) });
      await system.redis.raw.del(...(await system.redis.keys(`${runKeys("gone").runBase}:*:${STAGE}:*`)));
      await system.worker();
      expect(await rejection(run.weights(1, { timeoutMs: 10_000 }))).toMatchObject({ code: "CHUNKS_MISSING" });
      expect(handle.run).toBe("gone");
      await Promise.all(system.workers.map((w) => w.stop()));
    });
  });
});

describe("stopping and starting", () => {
  test("a stopping worker finishes its job and takes no other", async () => {
    await withWorkers([{ plugins: [PLUGIN] }], async ([worker]) => {
      const run = await system.mount(scoredBy("slow", { ms: 700 }));
      for (const n of [1, 2]) await run.put(n, STAGE, { ...advantageStep(valuesOf(n)) });
      await eventually(() => worker!.active === 1);
      await worker!.stop();
      await system.worker({ plugins: [PLUGIN] });
      const [first, second] = await serve(run, [1, 2]);
      expect(new Set([first, second]).size).toBe(2);
      await system.workers.at(-1)!.stop();
    });
  });

  test("what fails to start leaves no connection", async () => {
    const before = (await system.redis.connections()).length;
    const broken = [
      new Worker({ redisUrl: system.redis.url, plugins: ["./no-such-plugin.ts"] }),
      new Worker({ redisUrl: system.redis.url, backend: "tensorflow" }),
    ];
    const codes = await Promise.all(broken.map(async (w) => (await rejection(w.start())).code));
    expect(codes).toEqual(["PLUGIN", "BACKEND"]);
    await eventually(async () => (await system.redis.connections()).length === before);
  });

  test("services whose Redis is gone stop within seconds", async () => {
    const other = new System();
    other.redis = await startTestRedis();
    const services = [await other.broker(), await other.worker({ slots: 2 })];
    const run = await other.mount();
    await run.put(1, STAGE, { ...advantageStep([1, 2]) });
    await run.weights(1);
    await other.redis.stop();
    const started = performance.now();
    await other.closeClients();
    await Promise.all(services.map((s) => s.stop()));
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  test("a worker's connections are few, with any number of queues", async () => {
    await withWorkers([{ slots: 4, plugins: [PLUGIN] }], async ([worker]) => {
      const own = (await system.redis.connections()).filter((name) => name.includes(worker!.id));
      expect(worker!.queues.length).toBe(6);
      expect(own.length).toBeLessThanOrEqual(2);
    });
  });
});
