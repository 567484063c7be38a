import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "dataflex-mq/server";
import { expect, onTestFinished, test } from "vitest";
import { createWorkerMetrics } from "../../src/observe/metrics/worker-recorder.js";
import { advantageStep, REWEIGHT, valuesOf } from "../helpers/batches.js";
import { dataflexMq } from "../helpers/cli.js";
import { eventually, rejection } from "../helpers/eventually.js";
import { useSystem } from "../helpers/system.js";

const system = useSystem({ workers: [] });
const STAGE = "post_advantage";

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "dfx-truth-"));
  onTestFinished(() => rmSync(made, { recursive: true }));
  return made;
}

function plugin(text: string): string {
  const file = join(folder(), "mine.py");
  writeFileSync(file, text);
  return file;
}

const MINE = `
import os
import torch
from dataflex_mq.components import scorer

@scorer(requires=["advantages"])
def mine(batch, ctx, *, how: str = ""):
    if how == "exit" and ctx.step == 13:
        os._exit(1)
    if how == "gpu" and ctx.step == 13:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 80.00 GiB.")
    return batch.jagged("advantages").mean().abs()
`;

async function start(options: object = {}): Promise<Worker> {
  const worker = await new Worker({ redisUrl: system.redis.url, plugins: [plugin(MINE)], ...options }).start();
  onTestFinished(() => worker.stop());
  return worker;
}
const scored = (how = "") => system.mount({ ...REWEIGHT, scorer: { name: "mine", params: { how } } });
type Run = Awaited<ReturnType<typeof scored>>;
async function step(run: Run, number: number) {
  await run.put(number, STAGE, { ...advantageStep(valuesOf(number)) });
  return run.weights(number, { timeoutMs: 30_000 });
}
const metric = (text: string, line: string): number =>
  Number(
    text
      .split("\n")
      .find((one) => one.startsWith(line))
      ?.split(" ")
      .at(-1),
  );

test("status, metrics and doctor say where Python computes, what it holds and how often it was started again", async () => {
  const worker = await start({ slots: 2 });
  const metrics = createWorkerMetrics(worker);
  const run = await scored("exit");
  await step(run, 1);
  expect((await rejection(step(run, 13))).message).toContain("the Python process");
  await eventually(() => worker.isReady, { what: "both processes", timeoutMs: 20_000 });

  const { python } = worker;
  expect(python).toMatchObject({ components: ["scorer mine"], torch: expect.stringMatching(/^2\./) });
  expect(python!.slots).toHaveLength(2);
  for (const slot of python!.slots) {
    expect(slot).toMatchObject({ device: "cpu", gpu: null, reason: "", up: true, gpu_bytes: 0 });
    expect(slot.rss_bytes).toBeGreaterThan(50e6);
  }
  const restarts = python!.slots.reduce((n, slot) => n + slot.restarts, 0);
  expect(restarts).toBeGreaterThan(0);

  const text = await metrics.text();
  expect(metric(text, 'dataflex_python_slots{device="cpu"}')).toBe(2);
  expect(metric(text, "dataflex_python_slots_down")).toBe(0);
  expect(metric(text, "dataflex_python_restarts_total")).toBe(restarts);
  expect(metric(text, 'dataflex_python_memory_bytes{device="cpu"}')).toBeGreaterThan(100e6);

  // The heartbeat carries it to everybody else.
  const redis = ["--redis", system.redis.url];
  const status = await eventually(
    async () => {
      const { workers } = JSON.parse((await dataflexMq(["status", "--json", ...redis])).out).overview;
      return workers[0]?.python?.slots.every(({ up }: { up: boolean }) => up) && workers;
    },
    { what: "a heartbeat with both processes", timeoutMs: 20_000 },
  );
  expect(status[0].python).toMatchObject({
    components: ["scorer mine"],
    slots: [{ device: "cpu" }, { device: "cpu" }],
  });
  expect((await dataflexMq(["status", ...redis])).out).toMatch(/cpu, \d\.\d GB, \d+ restarts/);
  expect((await dataflexMq(["doctor", ...redis])).out).toMatch(/ok +python +worker .* Python 3\.\d+\.\d+ on cpu/);
});

test("GPUs are given to the slots in turn; one that torch cannot use is reported, one that is insisted on refused", async () => {
  const bin = folder();
  const smi = join(bin, "nvidia-smi");
  writeFileSync(smi, '#!/bin/sh\necho "GPU 0: A (UUID: GPU-aa)"\necho "GPU 1: B (UUID: GPU-bb)"\n');
  chmodSync(smi, 0o755);
  const before = process.env.PATH;
  process.env.PATH = `${bin}:${before}`;
  onTestFinished(() => {
    process.env.PATH = before;
  });
  const worker = await start({ slots: 3 });
  expect(worker.python!.slots.map(({ gpu }) => gpu)).toEqual(["GPU-aa", "GPU-bb", "GPU-aa"]);
  for (const slot of worker.python!.slots) {
    expect(slot).toMatchObject({
      device: "cpu",
      reason: expect.stringMatching(/torch .* finds no usable GPU|without CUDA/),
    });
  }
  const { out } = await dataflexMq(["doctor", "--redis", system.redis.url]);
  expect(out).toMatch(/WARN +python +worker .* a GPU is there and is not used/);
  expect(await rejection(start({ python: { device: "cuda:1" } }))).toMatchObject({ code: "BACKEND" });
});

test("a GPU that is out of memory: a typed failure that is tried again and has a hint", async () => {
  const worker = await start();
  const run = await scored("gpu");
  const error = await rejection(step(run, 13));
  expect(error).toMatchObject({ code: "OUT_OF_MEMORY" });
  expect(error.message).toMatch(
    /scorer 'mine' ran out of memory \(mine.py, line \d+\): CUDA out of memory.*give it fewer rows at once/,
  );
  await step(run, 14);
  expect(worker.python!.slots[0]!.restarts).toBe(0);
});
