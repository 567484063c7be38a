import type { Notice, ReleasedNotice, SettledNotice } from "../broker/notice.js";
import type { ResultHeader } from "../protocol/messages.js";
import { parseStepKey } from "../redis/keys.js";
import { NO_SCORER } from "./labels.js";
import type { Meter } from "./meter.js";
import type { LiveRun, LiveRuns, STEP_OUTCOMES } from "./runs.js";

/** Failures that a trainer with `on_unavailable: neutral` answers by training without weights. */
const UNAVAILABLE = new Set(["TIMEOUT", "EXPIRED", "POISON", "COMPUTE_LOST"]);

/** Folds one notice into the shared metrics. `counted`: an earlier leader has not counted it. Never throws. */
export function recordNotice(meter: Meter, runs: LiveRuns, run: LiveRun, notice: Notice, counted: boolean): void {
  // A trainer's earlier life: what it did counts, but it says nothing of the run's present state.
  const current = notice.incarnation === run.incarnation;
  if (notice.kind === "released") {
    if (counted) recordWait(meter, run, notice);
    if (current) runs.reach(run, "applied", parseStepKey(notice.step).step);
    return;
  }
  if (counted) countStep(meter, run, notice);
  if (current && notice.header.kind === "result") {
    runs.reach(run, "published", parseStepKey(notice.step).step);
    setLastValues(meter, run, notice.pipeline, notice.header);
  }
}

function recordWait(meter: Meter, run: LiveRun, notice: ReleasedNotice): void {
  meter.observe("dataflex_trainer_wait_seconds", { run: run.label }, notice.wait_ms / 1000);
}

function countStep(meter: Meter, run: LiveRun, notice: SettledNotice): void {
  const { stage } = notice.header;
  const labels = { run: run.label, pipeline: notice.pipeline, delivered: delivered(run, notice.pipeline), stage };
  meter.inc("dataflex_steps_total", { ...labels, outcome: outcomeOf(run, notice) });
  if (notice.header.kind === "result" && labels.delivered === "true") {
    meter.observe("dataflex_step_duration_seconds", { run: run.label, stage }, notice.ms / 1000);
  }
}

function outcomeOf(run: LiveRun, { header, pipeline }: SettledNotice): (typeof STEP_OUTCOMES)[number] {
  if (header.kind === "result") return "applied";
  const unavailable = UNAVAILABLE.has(header.code);
  if (unavailable && run.onUnavailable === "neutral" && delivered(run, pipeline) === "true") return "fallback";
  return header.code === "EXPIRED" || header.code === "TIMEOUT" ? "expired" : "failed";
}

function setLastValues(meter: Meter, run: LiveRun, pipeline: string, header: ResultHeader): void {
  const base = { run: run.label, pipeline, delivered: delivered(run, pipeline) };
  const { stats, score_stats: scores } = header;
  if (stats) {
    const level = header.granularity === "token" ? "token" : "sample";
    const labels = { ...base, stage: header.stage, mechanism: header.mechanism, level };
    meter.set("dataflex_weight_mean", labels, stats.mean);
    meter.set("dataflex_weight_std", labels, stats.std);
    meter.set("dataflex_weight_min", labels, stats.min);
    meter.set("dataflex_weight_max", labels, stats.max);
    meter.set("dataflex_weight_ess_ratio", labels, stats.ess_ratio);
    meter.set("dataflex_weight_kept_ratio", labels, stats.kept_ratio);
    meter.set("dataflex_weight_zero_ratio", labels, stats.zero_ratio);
  }
  if (scores) {
    const labels = { ...base, scorer: run.specs.get(pipeline)?.scorer?.name ?? NO_SCORER };
    meter.set("dataflex_score_mean", labels, scores.mean);
    meter.set("dataflex_score_std", labels, scores.std);
  }
}

/** Without its mount a pipeline is taken for a delivered one. */
function delivered(run: LiveRun, pipeline: string): "true" | "false" {
  return run.specs.get(pipeline)?.shadow === true ? "false" : "true";
}
