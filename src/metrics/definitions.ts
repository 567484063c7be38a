import { SCORE_EDGES, WEIGHT_EDGES } from "../protocol/distribution.js";
import { BYTE_BUCKETS, LATENCY_BUCKETS } from "./buckets.js";
import type { LabelName } from "./labels.js";

export type MetricType = "counter" | "gauge" | "histogram";
export type MetricRole = "broker" | "worker";

export interface MetricDefinition {
  readonly name: string;
  readonly type: MetricType;
  /** Processes that export it. */
  readonly by: readonly MetricRole[];
  /** Describes what all brokers share: exported by the leading one only, so that it is counted once. */
  readonly shared: boolean;
  readonly labels: readonly LabelName[];
  /** Histograms only: upper bounds, ascending, in the unit of the name. */
  readonly buckets?: readonly number[];
  /** Histograms whose elements are counted where they are made; only counts of bins are recorded. */
  readonly binned?: true;
  /** The `# HELP` line. */
  readonly help: string;
}

/** Labels of a statistic over the weights of one pipeline. */
const WEIGHTS = ["run", "pipeline", "delivered", "stage", "mechanism", "level"] as const;
const SCORES = ["run", "pipeline", "delivered", "scorer"] as const;
const DOMAINS = ["run", "pipeline", "delivered", "domain"] as const;
const PIPELINE = ["run", "pipeline", "delivered", "stage", "mechanism", "scorer", "actuator"] as const;

/** Facts of all brokers together, of each broker, of each worker, of every process. */
const shared = exportedBy(["broker"], true);
const broker = exportedBy(["broker"]);
const worker = exportedBy(["worker"]);
const every = exportedBy(["broker", "worker"]);

/**
 * Every metric of this system: registries, docs/metrics.md and whatever else lists metrics are made from this table. Names end in
 * their base unit, `_ratio` for 0–1, `_total` for counters and only them. Gauges of a step keep its last value, so a scrape
 * may miss steps; counters and histograms miss none.
 */
export const METRICS = [
  // weights and scores of the last finished step
  shared.gauge("dataflex_weight_mean", WEIGHTS, "Mean weight of the last finished step over valid elements."),
  shared.gauge("dataflex_weight_std", WEIGHTS, "Population standard deviation of weights of the last finished step."),
  shared.gauge("dataflex_weight_min", WEIGHTS, "Smallest weight of the last finished step."),
  shared.gauge("dataflex_weight_max", WEIGHTS, "Largest weight of the last finished step."),
  shared.gauge(
    "dataflex_weight_ess_ratio",
    WEIGHTS,
    "Effective sample size of the last finished step divided by its element count; 0 when all weights are 0.",
  ),
  shared.gauge(
    "dataflex_weight_kept_ratio",
    WEIGHTS,
    "Fraction of elements with weight above 0 in the last finished step.",
  ),
  shared.gauge(
    "dataflex_weight_zero_ratio",
    WEIGHTS,
    "Fraction of elements with weight exactly 0 in the last finished step.",
  ),
  shared.gauge(
    "dataflex_weight_quantile",
    [...WEIGHTS, "q"],
    "Weight quantile q of the last finished step; of more than 4,096 elements from an evenly spaced sample.",
  ),
  shared.gauge(
    "dataflex_weight_clipped_ratio",
    [...WEIGHTS, "side"],
    "Fraction of composed weights that clip moved to its bound, in the last released step.",
  ),
  shared.gauge("dataflex_score_mean", SCORES, "Mean score of the last finished step."),
  shared.gauge(
    "dataflex_score_std",
    SCORES,
    "Population standard deviation of scores of the last finished step; 0 makes weights uniform.",
  ),
  shared.gauge(
    "dataflex_guard_streak_steps",
    ["run", "pipeline", "delivered", "stage", "guard"],
    "Consecutive steps that violate a guard; 0 when the last one did not.",
  ),
  shared.gauge(
    "dataflex_mix_proportion_ratio",
    DOMAINS,
    "Share of a domain that the mixer proposed in the last finished step.",
  ),
  shared.gauge(
    "dataflex_mix_score_mean",
    DOMAINS,
    "Mean score of a domain's rows in the last finished step that had any; the reward where the scorer scores rewards.",
  ),
  // runs and their steps
  shared.gauge("dataflex_run_step", ["run", "point"], "Latest step enqueued, published or applied."),
  shared.gauge("dataflex_run_info", PIPELINE, "Static facts of a live run's pipeline; always 1."),
  shared.counter(
    "dataflex_steps_total",
    ["run", "pipeline", "delivered", "stage", "outcome"],
    "Steps of a pipeline by outcome: applied, fallback (trained without weights), failed, expired.",
  ),
  shared.histogram(
    "dataflex_step_duration_seconds",
    ["run", "stage"],
    LATENCY_BUCKETS,
    "Time from a step's first put to the settling of a delivered pipeline, on Redis' clock.",
  ),
  shared.histogram(
    "dataflex_trainer_wait_seconds",
    ["run"],
    LATENCY_BUCKETS,
    "Time the trainer blocked for the weights of a step, as it reported on release.",
  ),
  shared.histogram(
    "dataflex_trainer_hidden_seconds",
    ["run"],
    LATENCY_BUCKETS,
    "Part of a step's duration that the trainer did not wait for: it worked meanwhile.",
  ),
  shared.gauge(
    "dataflex_trainer_last_seen_timestamp_seconds",
    ["run"],
    "Unix time of the trainer's last heartbeat, on Redis' clock.",
  ),
  // queues, workers, streams
  shared.gauge("dataflex_queue_jobs", ["queue", "state"], "Jobs in a queue by state."),
  shared.gauge(
    "dataflex_queue_oldest_job_age_seconds",
    ["queue"],
    "Age of the oldest waiting job of a queue; 0 when none waits.",
  ),
  shared.gauge("dataflex_queue_paused", ["queue"], "1 when somebody has paused a queue."),
  shared.gauge(
    "dataflex_scorer_mounted",
    ["scorer", "stage", "queue"],
    "1 when a run with a living trainer has mounted a scorer whose jobs go to this queue.",
  ),
  shared.gauge("dataflex_workers", ["queue", "backend"], "Live workers that serve a queue, by heartbeat."),
  shared.gauge("dataflex_worker_slots", ["queue"], "Jobs that the live workers of a queue can run at once."),
  shared.gauge(
    "dataflex_stream_lag_entries",
    ["stream", "group"],
    "Entries not yet delivered to the readers of a stream.",
  ),
  shared.gauge("dataflex_stream_pending_entries", ["stream", "group"], "Entries delivered and not acknowledged."),
  shared.gauge(
    "dataflex_stream_oldest_pending_seconds",
    ["stream", "group"],
    "Idle time of the oldest entry delivered and not acknowledged; 0 when there is none.",
  ),
  shared.gauge("dataflex_stream_entries", ["stream"], "Entries a stream holds; dead: those that nobody could read."),
  shared.gauge(
    "dataflex_inflight_bytes",
    [],
    "Payload bytes of puts that Redis holds for open steps of runs with a living trainer.",
  ),
  // Redis
  broker.gauge("dataflex_redis_up", [], "1 when Redis answered the last probe of this broker."),
  shared.gauge("dataflex_redis_memory_used_bytes", [], "Memory that Redis uses."),
  shared.gauge("dataflex_redis_memory_max_bytes", [], "Memory that Redis may use; 0 means no limit."),
  shared.gauge("dataflex_redis_config_ok", ["check"], "1 when a Redis setting is safe for steps and jobs."),
  broker.histogram(
    "dataflex_redis_ping_seconds",
    [],
    LATENCY_BUCKETS,
    "Round trip of the probes by which this broker watches Redis.",
  ),
  broker.gauge("dataflex_broker_leader", [], "1 on the broker that exports the facts all brokers share."),
  // distributions
  worker.binned(
    "dataflex_weight_value",
    ["run", "pipeline", "delivered", "stage", "mechanism"],
    WEIGHT_EDGES,
    "Published weights, one a row or one a token as the pipeline gives them; of very many an evenly spaced sample.",
  ),
  worker.binned(
    "dataflex_score_value",
    SCORES,
    SCORE_EDGES,
    "Scores before the actuator; of very many an evenly spaced sample.",
  ),
  worker.counter(
    "dataflex_weights_nonfinite_total",
    ["run", "pipeline", "delivered", "stage", "scorer"],
    "Rows with a field or score that was NaN or infinite, before on_nonfinite decided what becomes of them.",
  ),
  // jobs of this worker
  worker.counter(
    "dataflex_jobs_total",
    ["stage", "scorer", "outcome"],
    "Job attempts by outcome: completed, failed, retried, superseded.",
  ),
  worker.counter(
    "dataflex_job_failures_total",
    ["stage", "scorer", "reason"],
    "Failed and retried attempts by reason.",
  ),
  worker.counter("dataflex_job_retries_total", ["stage", "scorer"], "Attempts that ended in another try."),
  worker.histogram(
    "dataflex_job_duration_seconds",
    ["stage", "scorer", "outcome"],
    LATENCY_BUCKETS,
    "Start to finish of one attempt.",
  ),
  worker.histogram(
    "dataflex_job_phase_seconds",
    ["stage", "phase"],
    LATENCY_BUCKETS,
    "Time a completed job spent in each phase; act is part of score where a component does both.",
  ),
  worker.histogram(
    "dataflex_job_wait_seconds",
    ["stage"],
    LATENCY_BUCKETS,
    "Time from adding a job to its start, on Redis' clock.",
  ),
  worker.counter("dataflex_samples_total", ["stage"], "Rows weighted by completed jobs."),
  worker.counter("dataflex_tokens_total", ["stage"], "Valid tokens weighted by completed jobs."),
  worker.counter(
    "dataflex_payload_bytes_total",
    ["direction", "encoding"],
    "Payload bytes of columns read and written, by encoding.",
  ),
  worker.histogram(
    "dataflex_payload_bytes",
    ["direction"],
    BYTE_BUCKETS,
    "Payload bytes read and written by one completed job.",
  ),
  worker.counter(
    "dataflex_jobs_stalled_total",
    ["queue"],
    "Jobs whose holder died or lost its lock, found and put back by this worker.",
  ),
  worker.counter(
    "dataflex_lock_renewal_failures_total",
    [],
    "Renewals of job locks that failed: an early sign of stalls.",
  ),
  worker.gauge("dataflex_jobs_active", [], "Jobs running now."),
  worker.gauge("dataflex_job_slots", [], "Jobs that may run at once."),
  worker.gauge(
    "dataflex_device_info",
    ["backend", "device", "precision", "requested"],
    "Compute device in use and the one asked for; always 1.",
  ),
  worker.gauge("dataflex_device_fallback", [], "1 when a GPU backend was asked for and another device is in use."),
  worker.gauge("dataflex_tensor_bytes", ["backend"], "Bytes of the tensors alive after the last job."),
  worker.gauge("dataflex_tensors", ["backend"], "Tensors alive after the last job; a growing number is a leak."),
  worker.gauge(
    "dataflex_last_job_timestamp_seconds",
    [],
    "Unix time at which the last job ended; absent before the first.",
  ),
  worker.gauge("dataflex_ready", [], "1 when this worker can be given jobs."),
  // every process
  every.gauge(
    "dataflex_build_info",
    ["version", "role", "node", "bullmq", "tfjs", "protocol"],
    "Build facts; always 1.",
  ),
  every.counter(
    "dataflex_metrics_dropped_total",
    ["metric", "drop"],
    "Values that were not recorded, by metric and reason; recording never fails work.",
  ),
] as const satisfies readonly MetricDefinition[];

type Table = (typeof METRICS)[number];
export type MetricName = Table["name"];
type Of<T extends MetricType> = Extract<Table, { type: T }>["name"];
export type CounterName = Of<"counter">;
export type GaugeName = Of<"gauge">;
export type BinnedName = Extract<Table, { binned: true }>["name"];
export type HistogramName = Exclude<Of<"histogram">, BinnedName>;
/** Exactly the labels that a metric declares, each with a value. */
export type LabelsOf<N extends MetricName> = Readonly<Record<Extract<Table, { name: N }>["labels"][number], string>>;

/** The part of the table that one registry holds. */
export function metricsOf(by: MetricRole, shared: boolean): readonly MetricDefinition[] {
  const table: readonly MetricDefinition[] = METRICS;
  return table.filter((m) => m.by.includes(by) && m.shared === shared);
}

/** Rows of the table; the types keep each metric's name and labels, so that recording is checked at compile time. */
function exportedBy(by: readonly MetricRole[], shared = false) {
  const row = { by, shared } as const;
  return {
    counter: <const N extends string, const L extends readonly LabelName[]>(name: N, labels: L, help: string) =>
      ({ ...row, type: "counter", name, labels, help }) as const,
    gauge: <const N extends string, const L extends readonly LabelName[]>(name: N, labels: L, help: string) =>
      ({ ...row, type: "gauge", name, labels, help }) as const,
    histogram: <const N extends string, const L extends readonly LabelName[]>(
      name: N,
      labels: L,
      buckets: readonly number[],
      help: string,
    ) => ({ ...row, type: "histogram", name, labels, buckets, help }) as const,
    binned: <const N extends string, const L extends readonly LabelName[]>(
      name: N,
      labels: L,
      buckets: readonly number[],
      help: string,
    ) => ({ ...row, type: "histogram", binned: true, name, labels, buckets, help }) as const,
  };
}
