import type { JobExecution } from "../../worker/job-context.js";
import { NO_SCORER, runLabel } from "./labels.js";
import { SILENT_MS } from "./live-run.js";
import type { Meter } from "./meter.js";

/**
 * Distributions of weights and scores, and non-finite rows, of the steps that this worker settled. They carry the run, so they go when the
 * run has been silent for as long as on the broker. Never throws.
 */
export class DistributionMeter {
  readonly #meter: Meter;
  /** Unix time in ms. */
  readonly #now: () => number;
  /** Run label → when a step of it was last settled here. */
  readonly #seen = new Map<string, number>();

  constructor(meter: Meter, now: () => number = Date.now) {
    this.#meter = meter;
    this.#now = now;
  }

  record({ spec, result, outcome, job, nonfinite }: JobExecution): void {
    if (!spec || (outcome !== "completed" && outcome !== "failed")) return;
    const run = runLabel(job.run);
    const scorer = spec.scorer?.name ?? NO_SCORER;
    const base = { run, pipeline: spec.name, delivered: spec.shadow ? "false" : "true" };
    this.#seen.set(run, this.#now());
    const rows = nonfinite ?? (result ? nonfiniteRows(result) : 0);
    const of = { ...base, stage: spec.stage, scorer };
    // Once at 0, so that a first one shows as an increase.
    this.#meter.init("dataflex_weights_nonfinite_total", of);
    this.#meter.inc("dataflex_weights_nonfinite_total", of, rows);
    if (outcome !== "completed") return;
    const { weights, scores } = result?.distribution ?? {};
    const { stage, mechanism } = spec;
    if (weights) this.#meter.addBins("dataflex_weight_value", { ...base, stage, mechanism }, weights);
    if (scores) this.#meter.addBins("dataflex_score_value", { ...base, scorer }, scores);
  }

  /** Takes away the series of runs of which nothing was settled here for SILENT_MS. */
  sweep(): void {
    const oldest = this.#now() - SILENT_MS;
    for (const [run, seen] of this.#seen) {
      if (seen >= oldest) continue;
      this.#seen.delete(run);
      this.#meter.remove("run", run);
    }
  }
}

/** Rows that were dropped; a step that became neutral does not say how many there were. */
function nonfiniteRows({ metrics, flags }: NonNullable<JobExecution["result"]>): number {
  return metrics.rows_dropped_nonfinite ?? (flags.includes("neutral_nonfinite") ? 1 : 0);
}
