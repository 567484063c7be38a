import { LATENCY_BUCKETS, WAIT_BUCKETS } from "./buckets.js";
import { exportedBy } from "./define-metric.js";

/** Labels of a statistic over the weights of one pipeline. */
const WEIGHTS = ["run", "pipeline", "delivered", "stage", "mechanism", "level"] as const;
const SCORES = ["run", "pipeline", "delivered", "scorer"] as const;
const DOMAINS = ["run", "pipeline", "delivered", "domain"] as const;
const PIPELINE = ["run", "pipeline", "delivered", "stage", "mechanism", "scorer", "actuator"] as const;

/** Facts of all brokers together, and of each broker. */
const shared = exportedBy(["broker"], true);
const broker = exportedBy(["broker"]);

export const BROKER_METRICS = [
  // weights and scores of the last finished step
  shared.gauge("dataflex_weight_mean", WEIGHTS, "Mean weight of the last finished step over live elements."),
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
    "Weight quantile q of the last finished step; above 4,096 elements, of an evenly spaced sample.",
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
    "dataflex_component_counts",
    ["run", "pipeline", "delivered", "count"],
    "What a component or selection counted in the last finished step, such as vetoed tokens or stale rows; absent for pipelines that count nothing.",
  ),
  shared.gauge(
    "dataflex_run_verdict_level",
    ["run", "code"],
    "What is wrong with a run, as the live page and `status` say it: 0 nothing, 1 wants a look, 2 wants somebody to act.",
  ),
  shared.gauge(
    "dataflex_mix_proportion_ratio",
    DOMAINS,
    "Share of a domain that the mixer proposed in the last finished step.",
  ),
  shared.gauge(
    "dataflex_mix_score_mean",
    DOMAINS,
    "Mean score of a domain's rows in the last finished step that had any; the mean reward if the scorer scores rewards.",
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
    WAIT_BUCKETS,
    "Time for which the trainer was blocked waiting for a step's weights, as reported on release.",
  ),
  shared.histogram(
    "dataflex_trainer_hidden_seconds",
    ["run"],
    WAIT_BUCKETS,
    "Part of a step's duration during which the trainer did not wait but worked.",
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
  shared.gauge("dataflex_queue_paused", ["queue"], "1 when a queue is paused."),
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
  shared.gauge(
    "dataflex_stream_entries",
    ["stream"],
    "Entries that a stream holds; dead: those that could not be read.",
  ),
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
    "Round-trip time of this broker's probes of Redis.",
  ),
  broker.gauge("dataflex_sse_clients", [], "Live pages that have an event stream of this broker open."),
  broker.gauge("dataflex_broker_leader", [], "1 on the broker that exports the facts all brokers share."),
] as const;
