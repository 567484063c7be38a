import type { ReleasedNotice, SettledNotice } from "../../broker/notice.js";
import { UNAVAILABLE } from "../../errors.js";
import type { ResultHeader } from "../../protocol/messages.js";
import type { StepOutcome } from "../../protocol/outcome-words.js";
import type { CombinedReport, WeightStats } from "../../protocol/statistics-messages.js";
import { parseStepKey } from "../../redis/keys.js";
import { COMPONENT_COUNTS } from "../../scoring/components/counts.js";
import { QUANTILES } from "../../scoring/distribution.js";
import { COMBINED } from "../verdict/verdict-types.js";
import type { LabelsOf } from "./definitions.js";
import { NO_SCORER } from "./labels.js";
import type { LiveRun } from "./live-run.js";
import type { LiveRuns } from "./live-runs.js";
import type { Meter } from "./meter.js";

type StepNotice = SettledNotice | ReleasedNotice;

/** Folds one notice into the shared metrics. `counted`: an earlier leader has not counted it. Never throws. */
export function recordNotice(meter: Meter, runs: LiveRuns, run: LiveRun, notice: StepNotice, counted: boolean): void {
  // A trainer's earlier life: what it did counts, but it says nothing of the run's present state.
  const current = notice.incarnation === run.incarnation;
  if (notice.kind === "released") {
    const latency = run.takeLatency(notice.step);
    if (counted) recordWait(meter, run, notice, latency);
    if (!current) return;
    runs.reach(run, "applied", parseStepKey(notice.step).step);
    if (notice.combined) setCombined(meter, run, notice.combined);
    return;
  }
  if (counted) countStep(meter, run, notice);
  if (!current) return;
  if (notice.header.kind === "result") {
    if (delivered(run, notice.pipeline) === "true") run.settledAfter(notice.step, notice.ms);
    runs.reach(run, "published", parseStepKey(notice.step).step);
    setLastValues(meter, run, notice.pipeline, notice.header);
  }
}

/** `latency`: milliseconds from the step's first put to its last delivered outcome. */
function recordWait(meter: Meter, run: LiveRun, { wait_ms }: ReleasedNotice, latency: number | undefined): void {
  meter.observe("dataflex_trainer_wait_seconds", { run: run.label }, wait_ms / 1000);
  if (latency === undefined) return;
  meter.observe("dataflex_trainer_hidden_seconds", { run: run.label }, Math.max(0, latency - wait_ms) / 1000);
}

function countStep(meter: Meter, run: LiveRun, notice: SettledNotice): void {
  const { stage } = notice.header;
  const labels = { run: run.label, pipeline: notice.pipeline, delivered: delivered(run, notice.pipeline), stage };
  meter.inc("dataflex_steps_total", { ...labels, outcome: outcomeOf(run, notice) });
  if (notice.header.kind === "result" && labels.delivered === "true") {
    meter.observe("dataflex_step_duration_seconds", { run: run.label, stage }, notice.ms / 1000);
  }
}

function outcomeOf(run: LiveRun, { header, pipeline }: SettledNotice): StepOutcome {
  if (header.kind === "result") return "applied";
  const unavailable = UNAVAILABLE.has(header.code);
  if (unavailable && run.onUnavailable === "neutral" && delivered(run, pipeline) === "true") return "fallback";
  return header.code === "EXPIRED" || header.code === "TIMEOUT" ? "expired" : "failed";
}

function setLastValues(meter: Meter, run: LiveRun, pipeline: string, header: ResultHeader): void {
  const base = { run: run.label, pipeline, delivered: delivered(run, pipeline) };
  const { stats, score_stats: scores, distribution, proportions, metrics } = header;
  if (stats) {
    const level = header.granularity === "token" ? "token" : "sample";
    const labels = { ...base, stage: header.stage, mechanism: header.mechanism, level };
    setWeights(meter, labels, stats);
    for (const [i, q] of QUANTILES.entries()) {
      const value = distribution?.weights?.quantiles[i];
      if (value !== undefined) meter.set("dataflex_weight_quantile", { ...labels, q: String(q) }, value);
    }
  }
  if (scores) {
    const labels = { ...base, scorer: run.specs.get(pipeline)?.scorer?.name ?? NO_SCORER };
    meter.set("dataflex_score_mean", labels, scores.mean);
    meter.set("dataflex_score_std", labels, scores.std);
  }
  for (const count of Object.keys(COMPONENT_COUNTS)) {
    const value = metrics[count];
    if (value !== undefined) meter.set("dataflex_component_counts", { ...base, count }, value);
  }
  for (const [domain, share] of Object.entries(proportions ?? {})) {
    meter.set("dataflex_mix_proportion_ratio", { ...base, domain }, share);
    const mean = metrics[`mean/${domain}`];
    if (mean !== undefined) meter.set("dataflex_mix_score_mean", { ...base, domain }, mean);
  }
}

/** The product of the delivered pipelines: with a selection in it, it is judged like one. */
function setCombined(meter: Meter, run: LiveRun, { level, stats, clipped }: CombinedReport): void {
  const weighing = [...run.specs.values()].filter((spec) => !spec.shadow && spec.mechanism !== "mix");
  const labels = {
    run: run.label,
    pipeline: COMBINED,
    delivered: "true",
    stage: weighing.some((spec) => spec.stage === "post_advantage") ? "post_advantage" : "post_reward",
    mechanism: weighing.some((spec) => spec.mechanism === "select") ? "select" : "reweight",
    level,
  };
  setWeights(meter, labels, stats);
  for (const side of ["low", "high"] as const) {
    meter.set("dataflex_weight_clipped_ratio", { ...labels, side }, clipped[side]);
  }
}

function setWeights(meter: Meter, labels: LabelsOf<"dataflex_weight_mean">, stats: WeightStats): void {
  meter.set("dataflex_weight_mean", labels, stats.mean);
  meter.set("dataflex_weight_std", labels, stats.std);
  meter.set("dataflex_weight_min", labels, stats.min);
  meter.set("dataflex_weight_max", labels, stats.max);
  meter.set("dataflex_weight_ess_ratio", labels, stats.ess_ratio);
  meter.set("dataflex_weight_kept_ratio", labels, stats.kept_ratio);
  meter.set("dataflex_weight_zero_ratio", labels, stats.zero_ratio);
}

/** Without its mount a pipeline is taken for a delivered one. */
function delivered(run: LiveRun, pipeline: string): "true" | "false" {
  return run.specs.get(pipeline)?.shadow === true ? "false" : "true";
}
