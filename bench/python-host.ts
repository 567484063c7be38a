/**
 * What it costs that a component runs in Python: a scorer that does nothing beside the same in TypeScript; a whole dense step with token_prob
 * in torch beside ours; 64 MiB of log-probs as a tensor in the Python process beside a warm copy of them; a masked mean there beside the same in process; starts and memory.
 * Run: npm run build && DFX_PYTHON=… npx tsx bench/python-host.ts [rounds]   (an interpreter with dataflex_mq and torch)
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { silentLogger } from "../src/log.js";
import { createBatch } from "../src/scoring/batch/batch.js";
import type { Scorer } from "../src/scoring/components/component-types.js";
import { foreignComponents } from "../src/scoring/components/foreign.js";
import { PythonCalls } from "../src/worker/python/python-calls.js";
import { PythonLink } from "../src/worker/python/python-link.js";
import { startPython } from "../src/worker/python/python-slots.js";
import { interleave, quantile, report } from "./measure.js";
import { startBench } from "./service.js";

const rounds = Number(process.argv[2] ?? 30);
const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const FILE = here("./nothing.py");
const python = process.env.DFX_PYTHON ?? "python3";

// The whole step, 1,024 rows.
const block = (scorer: string) => ({ mechanism: "reweight", scorer: { name: scorer }, actuator: { name: "softmax" } });
const whole = await Promise.all(
  ["nothing", "py_nothing"].map((scorer) =>
    startBench(block(scorer), { components: { plugin: [FILE, here("./nothing.ts")] } }),
  ),
);
const fields = {
  rm_scores: Array.from({ length: 1024 }, () => [1]),
  response_mask: Array.from({ length: 1024 }, () => [1]),
};
const steps = [0, 0];
const step = async (which: 0 | 1): Promise<void> => {
  const { run } = whole[which]!;
  await run.put(++steps[which]!, "post_reward", fields);
  await run.weights(steps[which]!, { timeoutMs: 60_000 });
  await run.release(steps[which]!);
};
report(
  "a scorer that does nothing, 1,024 rows, from put to weights",
  await interleave(rounds * 4, { TypeScript: () => step(0), Python: () => step(1) }),
  "TypeScript",
);
await Promise.all(whole.map((one) => one.stop()));

// The whole dense step: 64 MiB of log-probs from put to token weights.
const blend = (scorer: string) => ({
  mechanism: "reweight",
  scorer: { name: scorer },
  actuator: { name: "advantage_reweight", params: { alpha: 0.5 } },
});
const denseRuns = await Promise.all(
  ["token_prob", "py_token_prob"].map((name) => startBench(blend(name), { components: { plugin: [FILE] } })),
);
const matrix = {
  old_log_probs: { data: dense(4096, 4096).values, shape: [4096, 4096] },
  response_mask: { data: new Uint8Array(4096 * 4096).fill(1), shape: [4096, 4096], dtype: "bool" as const },
};
const denseStep = async (which: 0 | 1): Promise<void> => {
  const { run } = denseRuns[which]!;
  await run.put(++steps[which]!, "post_advantage", matrix);
  await run.weights(steps[which]!, { timeoutMs: 60_000 });
  await run.release(steps[which]!);
};
report(
  "a dense step, 64 MiB of log-probs, from put to token weights",
  await interleave(rounds, { ours: () => denseStep(0), "token_prob in torch": () => denseStep(1) }),
  "ours",
);
await Promise.all(denseRuns.map((one) => one.stop()));

// The call alone, on one slot.
const started = performance.now();
const { slots, ready, stop } = await startPython([FILE], 1, silentLogger);
const startMs = performance.now() - started;
const link = new PythonLink(() => {});
slots[0]!.onState((state) => link.setState(state));
const calls = new PythonCalls(link);
const ctx = {
  params: {},
  step: 1,
  trigger: 0,
  run: "bench",
  rng: Math.random,
  history: [],
  warn: () => {},
  count: () => {},
};
const scorer = (name: string): Scorer => {
  const component = foreignComponents(ready.components, calls).find((one) => one.component.name === name)?.component;
  if (component?.kind !== "scorer") throw new Error(`no scorer is called ${name}`);
  return component;
};
function dense(rows: number, width: number) {
  const values = Float32Array.from({ length: rows * width }, (_, i) => -((i * 0.618) % 1));
  const base = { rows, width, scope: "mask", dtype: "f32" } as const;
  const mask = {
    kind: "lengths",
    dtype: "u8",
    scope: "response",
    rows,
    width,
    lengths: new Int32Array(rows).fill(width),
  } as const;
  return {
    values,
    batch: createBatch({
      layout: { rows, width, mask },
      columns: new Map([["old_log_probs", { kind: "dense", ...base, values }]]),
    }).restrict(["old_log_probs"]),
  };
}
const small = dense(4096, 4096);
const kept = new Float32Array(small.values.length);
const touch = scorer("py_touch");
report(
  "64 MiB of log-probs to a tensor in Python",
  await interleave(rounds, {
    "warm copy": () => kept.set(small.values),
    "to a tensor": () => touch.score(small.batch, ctx),
  }),
  "warm copy",
);
const large = dense(8192, 4096);
const mean = scorer("py_mean");
const inProcess = JSON.parse(
  execFileSync(python, [here("./nothing.py"), String(rounds)], { encoding: "utf8" }),
) as number[];
const there = await interleave(rounds, {
  "in the Python process, transfer included": () => mean.score(large.batch, ctx),
});
report("masked mean of 8192 × 4096", { "torch in process": inProcess, ...there }, "torch in process");

const rss = (): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${slots[0]!.pid}/status`, "utf8"))![1]) / 1024;
const before = rss();
const nothing = dense(1024, 64);
for (let i = 0; i < 1000; i++) await touch.score(nothing.batch, ctx);
const importMs = Array.from({ length: 3 }, () => {
  const begun = performance.now();
  execFileSync(python, ["-c", "import torch"]);
  return performance.now() - begun;
});
console.log(`\nstart with torch ${startMs.toFixed(0)} ms, import torch alone ${quantile(importMs, 0.5).toFixed(0)} ms`);
console.log(`memory of a slot ${before.toFixed(0)} MiB, after 1,000 more steps ${rss().toFixed(0)} MiB`);
link.setState({ kind: "starting" });
await stop();
