import { expect, test } from "vitest";
import { ERROR_CODES } from "../../../../src/errors.js";
import { metricsOf } from "../../../../src/observe/metrics/definitions.js";
import { ExecutionMeter } from "../../../../src/observe/metrics/execution-meter.js";
import { Meter } from "../../../../src/observe/metrics/meter.js";
import { FAILURE_REASONS, failureReason } from "../../../../src/observe/metrics/reasons.js";
import { createWorkerMetrics, type ObservedWorker } from "../../../../src/observe/metrics/worker-recorder.js";
import type { PythonBeat } from "../../../../src/redis/presence.js";
import type { JobExecution } from "../../../../src/worker/job-context.js";
import { executionOf } from "../../../helpers/executions.js";
import { seriesOf, valueIn } from "../../../helpers/metrics.js";

const NOW = 1_700_000_000_000;
const JOB = { stage: "post_advantage", scorer: "advantage_magnitude" };

async function pageAfter(...executions: JobExecution[]): Promise<string> {
  const meter = new Meter(metricsOf("worker", false));
  const recorder = new ExecutionMeter(meter, () => NOW);
  for (const execution of executions) recorder.record(execution);
  return meter.registry.metrics();
}

test("a completed attempt: outcome, durations, phases, rows, tokens, bytes by encoding", async () => {
  const page = await pageAfter(executionOf());
  expect(valueIn(page, "dataflex_jobs_total", { ...JOB, outcome: "completed" })).toBe(1);
  expect(valueIn(page, "dataflex_job_duration_seconds_sum", JOB)).toBeCloseTo(0.025);
  expect(valueIn(page, "dataflex_job_wait_seconds_sum", { stage: JOB.stage })).toBeCloseTo(0.003);
  for (const [phase, seconds] of Object.entries({
    fetch: 0.001,
    decode: 0.002,
    score: 0.004,
    encode: 0.001,
    publish: 0.005,
  })) {
    expect(valueIn(page, "dataflex_job_phase_seconds_sum", { phase })).toBeCloseTo(seconds);
  }
  expect(valueIn(page, "dataflex_samples_total", { stage: JOB.stage })).toBe(8);
  expect(valueIn(page, "dataflex_tokens_total", { stage: JOB.stage })).toBe(36);
  expect(valueIn(page, "dataflex_payload_bytes_total", { direction: "in", encoding: "row" })).toBe(64);
  expect(valueIn(page, "dataflex_payload_bytes_total", { direction: "in", encoding: "lengths" })).toBe(32);
  expect(valueIn(page, "dataflex_payload_bytes_total", { direction: "out", encoding: "dense" })).toBe(32);
  expect(valueIn(page, "dataflex_payload_bytes_sum", { direction: "in" })).toBe(96);
  expect(valueIn(page, "dataflex_last_job_timestamp_seconds")).toBe(NOW / 1000);
});

test("failures count by reason, retries by themselves; nothing of them is weighed", async () => {
  const failed = executionOf({ outcome: "failed", reason: "NON_FINITE" });
  const retried = executionOf({ outcome: "retried", reason: "COMPUTE_LOST" });
  const page = await pageAfter(failed, retried, retried);
  expect(valueIn(page, "dataflex_job_failures_total", { ...JOB, reason: "nonfinite" })).toBe(1);
  expect(valueIn(page, "dataflex_job_failures_total", { ...JOB, reason: "lost" })).toBe(2);
  expect(valueIn(page, "dataflex_job_retries_total", JOB)).toBe(2);
  expect(valueIn(page, "dataflex_jobs_total", { ...JOB, outcome: "retried" })).toBe(2);
  expect(valueIn(page, "dataflex_samples_total")).toBe(0);
});

test("counters of a stage and scorer are all there from the first execution on", async () => {
  const page = await pageAfter(executionOf({ outcome: "superseded", reason: "GONE" }));
  for (const reason of FAILURE_REASONS)
    expect(valueIn(page, "dataflex_job_failures_total", { ...JOB, reason })).toBe(0);
  for (const outcome of ["completed", "failed", "retried"]) {
    expect(valueIn(page, "dataflex_jobs_total", { ...JOB, outcome })).toBe(0);
  }
});

test("an execution whose run is gone counts without a scorer", async () => {
  const page = await pageAfter(executionOf({ spec: undefined, outcome: "superseded" }));
  expect(valueIn(page, "dataflex_jobs_total", { scorer: "_none", outcome: "superseded" })).toBe(1);
});

test("numbers that are none fail no job and spoil no series", async () => {
  const broken = executionOf({
    totalMs: Number.NaN,
    waitMs: Number.POSITIVE_INFINITY,
    readBytes: Number.NaN,
    tokens: Number.NaN,
  });
  const page = await pageAfter(broken, executionOf());
  expect(valueIn(page, "dataflex_tokens_total")).toBe(36);
  expect(valueIn(page, "dataflex_job_duration_seconds_count")).toBe(1);
  expect(valueIn(page, "dataflex_metrics_dropped_total", { metric: "dataflex_tokens_total" })).toBe(1);
  expect([...seriesOf(page).values()].every(Number.isFinite)).toBe(true);
});

test("every error code has its reason; an unknown one is other", () => {
  for (const code of Object.keys(ERROR_CODES)) expect(FAILURE_REASONS).toContain(failureReason(code));
  expect(failureReason("OF_A_LATER_VERSION")).toBe("other");
  expect(failureReason("constructor")).toBe("other");
});

test("10,000 steps of 10,000 runs leave a worker's series count flat", async () => {
  const meter = new Meter(metricsOf("worker", false));
  const recorder = new ExecutionMeter(meter);
  const counts: number[] = [];
  for (let i = 1; i <= 10_000; i++) {
    const base = executionOf();
    recorder.record({ ...base, job: { ...base.job, run: `run-${i}`, step: `${i}.0` } });
    if (i === 100 || i === 10_000) counts.push(seriesOf(await meter.registry.metrics()).size);
  }
  expect(counts[1]).toBe(counts[0]);
  expect(counts[0]).toBeLessThan(1_500);
});

const SLOT = { device: "cpu", model: "", gpu: null, reason: "", up: true, restarts: 2, rss_bytes: 100, gpu_bytes: 0 };
const PYTHON: PythonBeat = {
  python: "3.11.2",
  torch: "2.13.0",
  components: ["scorer mine"],
  slots: [SLOT, { ...SLOT, device: "cuda:0", gpu_bytes: 7 }, { ...SLOT, up: false, rss_bytes: 0 }],
};

test("two workers in one process have a page each", async () => {
  const worker = (slots: number): ObservedWorker & { report: (a: JobExecution) => void } => {
    const listeners: ((a: JobExecution) => void)[] = [];
    return {
      backend: "cpu",
      requestedBackend: "auto",
      active: 1,
      slots,
      isReady: slots > 1,
      tensors: { count: slots, bytes: 16 },
      queues: ["post_advantage.builtin"],
      stalls: new Map([["post_advantage.builtin", slots - 1]]),
      lostLocks: 0,
      python: slots > 1 ? PYTHON : undefined,
      onExecution: (listener) => void listeners.push(listener),
      report: (a) => listeners.forEach((l) => void l(a)),
    };
  };
  const [a, b] = [worker(1), worker(4)];
  const [pageA, pageB] = [createWorkerMetrics(a), createWorkerMetrics(b)];
  a.report(executionOf());
  expect(valueIn(await pageA.text(), "dataflex_jobs_total", { outcome: "completed" })).toBe(1);
  const text = await pageB.text();
  expect(valueIn(text, "dataflex_jobs_total")).toBeUndefined();
  expect(valueIn(text, "dataflex_job_slots")).toBe(4);
  expect(valueIn(text, "dataflex_jobs_active")).toBe(1);
  expect(valueIn(text, "dataflex_ready")).toBe(1);
  expect(valueIn(text, "dataflex_tensors", { backend: "cpu" })).toBe(4);
  expect(valueIn(text, "dataflex_device_fallback")).toBe(0);
  expect(valueIn(await pageA.text(), "dataflex_jobs_stalled_total", { queue: "post_advantage.builtin" })).toBe(0);
  // A second look counts nothing twice.
  expect(valueIn(await pageB.text(), "dataflex_jobs_stalled_total", { queue: "post_advantage.builtin" })).toBe(3);
  expect(valueIn(await pageB.text(), "dataflex_lock_renewal_failures_total")).toBe(0);
  expect(valueIn(text, "dataflex_python_slots", { device: "cpu" })).toBe(1);
  expect(valueIn(text, "dataflex_python_slots", { device: "gpu" })).toBe(1);
  expect(valueIn(text, "dataflex_python_slots_down")).toBe(1);
  expect(valueIn(text, "dataflex_python_memory_bytes", { device: "cpu" })).toBe(200);
  expect(valueIn(text, "dataflex_python_memory_bytes", { device: "gpu" })).toBe(7);
  expect(valueIn(await pageB.text(), "dataflex_python_restarts_total")).toBe(6);
  expect(valueIn(await pageA.text(), "dataflex_python_slots")).toBeUndefined();
  const device = { backend: "cpu", device: "cpu", precision: "float64", requested: "auto" };
  expect(valueIn(text, "dataflex_device_info", device)).toBe(1);
  expect(valueIn(text, "dataflex_build_info", { role: "worker", protocol: "2", bullmq: "6.7.0" })).toBe(1);
});
