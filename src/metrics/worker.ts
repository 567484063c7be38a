import type { Backend } from "../compute/messages.js";
import type { ColumnHeader } from "../protocol/tensor.js";
import type { Attempt } from "../worker/process-job.js";
import { setBuildInfo } from "./build-info.js";
import { metricsOf } from "./definitions.js";
import { LABELS, NO_SCORER } from "./labels.js";
import { Meter } from "./meter.js";
import { type Metrics, metricsPage } from "./page.js";
import { FAILURE_REASONS, failureReason } from "./reasons.js";

/** What the metrics need of a worker; it may be started before or after. */
export interface ObservedWorker {
  readonly backend: string;
  readonly requestedBackend: Backend;
  readonly active: number;
  readonly slots: number;
  /** Quick readiness, from memory only. */
  readonly isReady: boolean;
  onAttempt(listener: (attempt: Attempt) => void): void;
}

/** Metrics of one worker's own work. They add up over workers; who reported them is the scraper's label. */
export function createWorkerMetrics(worker: ObservedWorker): Metrics {
  const meter = new Meter(metricsOf("worker", false));
  setBuildInfo(meter, "worker");
  const attempts = new AttemptMeter(meter);
  worker.onAttempt((attempt) => attempts.record(attempt));
  return metricsPage(
    () => [meter.registry],
    () => {
      meter.set("dataflex_jobs_active", {}, worker.active);
      meter.set("dataflex_job_slots", {}, worker.slots);
      meter.set("dataflex_ready", {}, worker.isReady ? 1 : 0);
      // The backend is known once the worker has started.
      if (worker.backend !== "") setDevice(meter, worker);
    },
  );
}

function setDevice(meter: Meter, worker: ObservedWorker): void {
  const device = worker.backend === "tensorflow-gpu" || worker.backend === "webgpu" ? "gpu" : "cpu";
  const precision = worker.backend === "cpu" ? "float64" : "float32";
  const labels = { backend: worker.backend, device, precision, requested: worker.requestedBackend };
  meter.set("dataflex_device_info", labels, 1);
}

/** Turns facts of attempts into counters and histograms. Never throws. */
export class AttemptMeter {
  readonly #meter: Meter;
  readonly #seen = new Set<string>();
  /** Unix time in ms. */
  readonly #now: () => number;

  constructor(meter: Meter, now: () => number = Date.now) {
    this.#meter = meter;
    this.#now = now;
  }

  record(a: Attempt): void {
    const { stage } = a.job;
    const scorer = a.spec?.scorer?.name ?? NO_SCORER;
    this.#appear(stage, scorer);
    const meter = this.#meter;
    meter.inc("dataflex_jobs_total", { stage, scorer, outcome: a.outcome });
    meter.observe("dataflex_job_duration_seconds", { stage, scorer, outcome: a.outcome }, a.totalMs / 1000);
    meter.set("dataflex_last_job_timestamp_seconds", {}, this.#now() / 1000);
    if (a.outcome === "retried") meter.inc("dataflex_job_retries_total", { stage, scorer });
    if (a.outcome === "retried" || a.outcome === "failed") {
      meter.inc("dataflex_job_failures_total", { stage, scorer, reason: failureReason(a.reason) });
    }
    if (a.outcome === "completed") this.#completed(stage, a);
  }

  #completed(stage: string, a: Attempt): void {
    const meter = this.#meter;
    meter.observe("dataflex_job_wait_seconds", { stage }, a.waitMs / 1000);
    const phases = { ...a.result?.timings, ...(a.publishMs === undefined ? {} : { publish: a.publishMs }) };
    for (const phase of LABELS.phase.values) {
      const ms = (phases as Readonly<Record<string, number>>)[phase];
      if (ms !== undefined) meter.observe("dataflex_job_phase_seconds", { stage, phase }, ms / 1000);
    }
    meter.inc("dataflex_samples_total", { stage }, a.result?.rows ?? 0);
    meter.inc("dataflex_tokens_total", { stage }, a.tokens ?? 0);
    meter.observe("dataflex_payload_bytes", { direction: "in" }, a.readBytes);
    meter.observe("dataflex_payload_bytes", { direction: "out" }, a.writtenBytes);
    this.#payload("in", a.readColumns);
    this.#payload("out", a.result?.columns ?? []);
  }

  #payload(direction: "in" | "out", columns: readonly ColumnHeader[]): void {
    for (const { enc, parts } of columns) {
      const bytes = Object.values(parts).reduce((n, [, length]) => n + length, 0);
      this.#meter.inc("dataflex_payload_bytes_total", { direction, encoding: enc }, bytes);
    }
  }

  /** Every counter of a (stage, scorer) exists from its first job on, so that the first failure shows as an increase. */
  #appear(stage: string, scorer: string): void {
    const key = `${stage} ${scorer}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    const meter = this.#meter;
    for (const outcome of ATTEMPT_OUTCOMES) meter.init("dataflex_jobs_total", { stage, scorer, outcome });
    for (const reason of FAILURE_REASONS) meter.init("dataflex_job_failures_total", { stage, scorer, reason });
    meter.init("dataflex_job_retries_total", { stage, scorer });
    meter.init("dataflex_samples_total", { stage });
    meter.init("dataflex_tokens_total", { stage });
  }
}

const ATTEMPT_OUTCOMES = [
  "completed",
  "failed",
  "retried",
  "superseded",
] as const satisfies readonly Attempt["outcome"][];
