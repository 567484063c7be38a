import type { PythonBeat } from "../../redis/presence.js";
import { deviceOf } from "../../worker/compute/backend.js";
import type { Backend } from "../../worker/compute/thread-messages.js";
import type { JobExecution } from "../../worker/job-context.js";
import { setBuildInfo } from "./build-info.js";
import { metricsOf } from "./definitions.js";
import { DistributionMeter } from "./distribution-meter.js";
import { ExecutionMeter } from "./execution-meter.js";
import { LossMeter } from "./loss-meter.js";
import { Meter } from "./meter.js";
import { type Metrics, metricsPage } from "./metrics-page.js";
import { PythonMeter } from "./python-meter.js";

/** What the metrics need of a worker; it may be started before or after. */
export interface ObservedWorker {
  readonly backend: string;
  readonly requestedBackend: Backend;
  readonly active: number;
  readonly slots: number;
  /** Quick readiness, from memory only. */
  readonly isReady: boolean;
  /** Tensors alive in its compute threads. */
  readonly tensors: { readonly count: number; readonly bytes: number };
  /** Its Python processes; undefined if it has none. */
  readonly python: PythonBeat | undefined;
  readonly queues: readonly string[];
  /** Jobs put back because their holder was gone, by queue; only grows. */
  readonly stalls: ReadonlyMap<string, number>;
  /** Failed renewals of job locks; only grows. */
  readonly lostLocks: number;
  onExecution(listener: (execution: JobExecution) => void): void;
}

/** A worker's page has 1,500 series at most: these, and some 300 of `_other` and of the process. */
export const MOST_LINES = 1_150;

/** Metrics of one worker's own work. They add up over workers; who reported them is the scraper's label. */
export function createWorkerMetrics(worker: ObservedWorker): Metrics {
  const meter = new Meter(metricsOf("worker", false), { lines: MOST_LINES });
  setBuildInfo(meter, "worker");
  const executions = new ExecutionMeter(meter);
  const distributions = new DistributionMeter(meter);
  const losses = new LossMeter(meter, worker);
  const python = new PythonMeter(meter);
  worker.onExecution((execution) => {
    executions.record(execution);
    distributions.record(execution);
  });
  return metricsPage(
    () => [meter.registry],
    () => {
      meter.set("dataflex_jobs_active", {}, worker.active);
      meter.set("dataflex_job_slots", {}, worker.slots);
      meter.set("dataflex_ready", {}, worker.isReady ? 1 : 0);
      // The backend is known once the worker has started.
      if (worker.backend !== "") setDevice(meter, worker);
      if (worker.python) python.record(worker.python);
      losses.record();
      distributions.sweep();
    },
  );
}

function setDevice(meter: Meter, worker: ObservedWorker): void {
  const { backend, requestedBackend: requested, tensors } = worker;
  const device = deviceOf(backend);
  const precision = backend === "cpu" ? "float64" : "float32";
  meter.set("dataflex_device_info", { backend, device, precision, requested }, 1);
  meter.set("dataflex_device_fallback", {}, deviceOf(requested) === "gpu" && device !== "gpu" ? 1 : 0);
  meter.set("dataflex_tensors", { backend }, tensors.count);
  meter.set("dataflex_tensor_bytes", { backend }, tensors.bytes);
}
