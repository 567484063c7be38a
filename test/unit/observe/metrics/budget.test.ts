import { expect, test } from "vitest";
import { DEFAULT_LIMITS } from "../../../../src/columns/limits.js";
import { MOST_SHARED_LINES } from "../../../../src/observe/metrics/broker-recorder.js";
import { metricsOf } from "../../../../src/observe/metrics/definitions.js";
import { DistributionMeter } from "../../../../src/observe/metrics/distribution-meter.js";
import { ExecutionMeter } from "../../../../src/observe/metrics/execution-meter.js";
import { LiveRuns } from "../../../../src/observe/metrics/live-runs.js";
import { Meter } from "../../../../src/observe/metrics/meter.js";
import { recordNotice } from "../../../../src/observe/metrics/step-facts.js";
import { createWorkerMetrics, MOST_LINES } from "../../../../src/observe/metrics/worker-recorder.js";
import type { Handle, ResultHeader } from "../../../../src/protocol/messages.js";
import type { PipelineSpec } from "../../../../src/protocol/pipeline-spec.js";
import { BUILT_INS } from "../../../../src/scoring/components/catalogue.js";
import { binsOf, SCORE_EDGES, weightDistribution } from "../../../../src/scoring/distribution.js";
import type { JobExecution } from "../../../../src/worker/job-context.js";
import { executionOf, resultOf, specOf } from "../../../helpers/executions.js";
import { manyPipelines } from "../../../helpers/many-pipelines.js";
import { linesOf, valueIn } from "../../../helpers/metrics.js";

const HANDLE: Omit<Handle, "run" | "pipelines"> = {
  v: 1,
  mount_id: "m",
  incarnation: 1,
  limits: DEFAULT_LIMITS,
  stages: {},
  composition: { combine: "multiply", rescale: "none" },
  max_wait_ms: 1_000,
  on_unavailable: "error",
  warnings: [],
};
const SHARES = { granularity: "domain", proportions: { math: 0.5, code: 0.25, logic: 0.25 } } as const;
const RUNS = 40;
const STEPS = 10_000;

test("a worker's page stays below 1,500 series over 10,000 steps of 40 runs with every scorer there is, and loses no count", async () => {
  const listeners: ((execution: JobExecution) => void)[] = [];
  const page = createWorkerMetrics({
    backend: "cpu",
    requestedBackend: "auto",
    active: 1,
    slots: 1,
    isReady: true,
    tensors: { count: 0, bytes: 0 },
    queues: ["post_reward.builtin", "post_advantage.builtin"],
    stalls: new Map(),
    lostLocks: 0,
    python: undefined,
    onExecution: (listener) => void listeners.push(listener),
  });
  const scorers = BUILT_INS.filter((c) => c.kind === "scorer").map((c) => c.name);
  const distribution = {
    weights: weightDistribution(Float64Array.of(0, 0.5, 1, 2)),
    scores: binsOf(Float64Array.of(-1, 0, 0.5, 3), SCORE_EDGES),
  };
  const execution = (step: number, spec: PipelineSpec, outcome: JobExecution["outcome"]): JobExecution => {
    const base = executionOf({ spec, outcome, result: resultOf({ distribution, mechanism: spec.mechanism }) });
    const job = { ...base.job, run: `run-${step % RUNS}`, step: `${step}.0`, stage: spec.stage, pipeline: spec.name };
    return { ...base, job, ...(outcome === "completed" ? {} : { reason: "COMPONENT" }) };
  };
  const sizes: number[] = [];
  for (let step = 0; step < STEPS; step++) {
    const outcome = (["completed", "failed", "retried", "superseded"] as const)[step % 10] ?? "completed";
    for (const spec of manyPipelines(scorers, step % RUNS))
      for (const listener of listeners) listener(execution(step, spec, outcome));
    if (step === STEPS / 10 || step === STEPS - 1) sizes.push(linesOf(await page.text()).length);
  }
  expect(sizes[1]).toBe(sizes[0]);
  expect(sizes[1]).toBeLessThanOrEqual(1_500);
  const text = await page.text();
  const total = (metric: string): number =>
    linesOf(text).reduce((n, line) => n + (line.startsWith(`${metric}{`) ? Number(line.split(" ").at(-1)) : 0), 0);
  const pipelines = manyPipelines(scorers, 0).length;
  expect(total("dataflex_jobs_total")).toBe(STEPS * pipelines);
  expect(total("dataflex_weight_value_count")).toBe(4 * 0.7 * STEPS * pipelines);
  expect(text).toContain('run="run-0"');
  expect(text).toContain('run="_other",pipeline="_other"');
  expect(linesOf(text).filter((line) => line.startsWith("dataflex_metrics_dropped_total"))).toEqual([]);
  expect(valueIn(text, "dataflex_ready")).toBe(1);
});

test("32 runs of one pipeline each find room on both pages", async () => {
  const worker = new Meter(metricsOf("worker", false), { lines: MOST_LINES });
  const broker = new Meter(metricsOf("broker", true), { lines: MOST_SHARED_LINES });
  const [executions, distributions] = [new ExecutionMeter(worker), new DistributionMeter(worker)];
  const runs = new LiveRuns(broker, undefined as never, Date.now);
  const distribution = {
    weights: weightDistribution(Float64Array.of(0, 2)),
    scores: binsOf(Float64Array.of(0.5), SCORE_EDGES),
  };
  const header = resultOf({ distribution });
  const combined = { level: "token", stats: header.stats!, clipped: { low: 0, high: 0.5 } } as const;
  for (let i = 0; i < 33; i++) {
    const name = `run-${i}`;
    const base = executionOf({ result: header });
    const execution = { ...base, job: { ...base.job, run: name } };
    executions.record(execution);
    distributions.record(execution);
    const run = runs.meet({ ...HANDLE, run: name, pipelines: [specOf()] });
    const of = { id: "1-0", run: name, incarnation: 1, step: "1.0", at: 1 };
    recordNotice(broker, runs, run, { ...of, kind: "settled", pipeline: "main", header, ms: 5 }, true);
    recordNotice(broker, runs, run, { ...of, kind: "released", wait_ms: 3, combined }, true);
  }
  for (const meter of [worker, broker]) {
    const shown = new Set([...(await meter.registry.metrics()).matchAll(/run="(run-\d+)"/g)].map(([, run]) => run));
    expect(shown.size).toBe(32);
  }
});

test("a broker's shared facts stay below 2,800 series over 10,000 steps of the same runs", async () => {
  const meter = new Meter(metricsOf("broker", true), { lines: MOST_SHARED_LINES });
  const runs = new LiveRuns(meter, undefined as never, Date.now);
  const { stats, ...header } = resultOf({ distribution: { weights: weightDistribution(Float64Array.of(0, 2)) } });
  const combined = { level: "token", stats: stats!, clipped: { low: 0, high: 0.5 } } as const;
  const specs = (run: number): PipelineSpec[] => manyPipelines(["advantage_magnitude", "reward_difficulty"], run);
  const sizes: number[] = [];
  for (let step = 0; step < STEPS; step++) {
    const name = `run-${step % RUNS}`;
    const pipelines = specs(step % RUNS);
    const run = runs.meet({ ...HANDLE, run: name, pipelines });
    const of = { id: `${step}-0`, run: name, incarnation: 1, step: `${step}.0`, at: step };
    for (const { name: pipeline, mechanism, stage } of pipelines) {
      const settled: ResultHeader = {
        ...header,
        mechanism,
        stage,
        ...(mechanism === "mix" ? SHARES : { stats: stats! }),
      };
      recordNotice(meter, runs, run, { ...of, kind: "settled", pipeline, header: settled, ms: 5 }, true);
    }
    runs.reach(run, "enqueued", step);
    runs.heard(run, step);
    recordNotice(meter, runs, run, { ...of, kind: "released", wait_ms: 3, combined }, true);
    if (step === STEPS / 10 || step === STEPS - 1) sizes.push(linesOf(await meter.registry.metrics()).length);
  }
  expect(sizes[1]).toBe(sizes[0]);
  // The process, the broker itself and queues have the rest of 3,000.
  expect(sizes[1]).toBeLessThanOrEqual(2_800);
});
