import type { ColumnHeader } from "../../columns/tensor.js";
import { defined } from "../../defined.js";
import { JOB_OUTCOMES } from "../../protocol/outcome-words.js";
import type { JobExecution } from "../../worker/job-context.js";
import { LABELS, NO_SCORER } from "./labels.js";
import type { Meter } from "./meter.js";
import { FAILURE_REASONS, failureReason } from "./reasons.js";

/** Turns facts about executions of jobs into counters and histograms. Never throws. */
export class ExecutionMeter {
  readonly #meter: Meter;
  readonly #seen = new Set<string>();
  /** Unix time in ms. */
  readonly #now: () => number;

  constructor(meter: Meter, now: () => number = Date.now) {
    this.#meter = meter;
    this.#now = now;
  }

  record(a: JobExecution): void {
    const { stage } = a.job;
    const scorer = a.spec?.scorer?.name ?? NO_SCORER;
    this.#appear(stage, scorer);
    const meter = this.#meter;
    meter.inc("dataflex_jobs_total", { stage, scorer, outcome: a.outcome });
    meter.observe("dataflex_job_duration_seconds", { stage, scorer }, a.totalMs / 1000);
    meter.set("dataflex_last_job_timestamp_seconds", {}, this.#now() / 1000);
    if (a.outcome === "retried") meter.inc("dataflex_job_retries_total", { stage, scorer });
    if (a.outcome === "retried" || a.outcome === "failed") {
      meter.inc("dataflex_job_failures_total", { stage, scorer, reason: failureReason(a.reason) });
    }
    if (a.outcome === "completed") this.#completed(stage, a);
  }

  #completed(stage: string, a: JobExecution): void {
    const meter = this.#meter;
    meter.observe("dataflex_job_wait_seconds", { stage }, a.waitMs / 1000);
    const phases = { ...a.result?.timings, ...defined({ publish: a.publishMs }) };
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
    for (const outcome of Object.keys(JOB_OUTCOMES)) meter.init("dataflex_jobs_total", { stage, scorer, outcome });
    for (const reason of FAILURE_REASONS) meter.init("dataflex_job_failures_total", { stage, scorer, reason });
    meter.init("dataflex_job_retries_total", { stage, scorer });
    meter.init("dataflex_samples_total", { stage });
    meter.init("dataflex_tokens_total", { stage });
  }
}
