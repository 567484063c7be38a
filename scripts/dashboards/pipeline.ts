import type { Dashboard } from "./panel.js";
import { increase, latest, quantile, rate, series, sumBy, sumOf } from "./promql.js";

const QUEUE = { queue: "$queue" } as const;
const NO_JOB = "no worker finished a job in the time shown.";
const NO_LEADER = "no broker leads: are they all down?";

/** Where do steps spend their time, and where do they get stuck? */
export const pipeline: Dashboard = {
  uid: "dataflex-pipeline",
  title: "dataflex-mq: pipeline",
  description: "Queues, jobs, phases, payloads and streams.",
  variables: [{ name: "queue", query: `label_values(${series("dataflex_queue_jobs")}, queue)` }],
  panels: [
    {
      title: "Jobs by state",
      description:
        "A growing number of waiting jobs is overload, or nobody who serves the queue: compare with workers and slots.",
      noData: NO_LEADER,
      kind: "timeseries",
      unit: "short",
      stacked: true,
      min: 0,
      queries: [{ expr: sumBy(["state"], series("dataflex_queue_jobs", QUEUE)), legend: "{{state}}" }],
    },
    {
      title: "Oldest waiting job",
      description:
        "How long the oldest job has waited. It should stay near 0; above 2 minutes workers exist and do not take jobs, or there are none.",
      noData: NO_LEADER,
      kind: "timeseries",
      unit: "s",
      min: 0,
      queries: [
        { expr: latest(["queue"], series("dataflex_queue_oldest_job_age_seconds", QUEUE)), legend: "{{queue}}" },
        { expr: latest(["queue"], series("dataflex_queue_paused", QUEUE)), legend: "paused {{queue}}" },
      ],
    },
    {
      title: "Throughput",
      description: "Rows and valid tokens weighted a second, over all workers.",
      noData: NO_JOB,
      kind: "timeseries",
      unit: "short",
      queries: [
        { expr: sumBy(["stage"], rate(series("dataflex_samples_total"))), legend: "rows {{stage}}" },
        { expr: sumBy(["stage"], rate(series("dataflex_tokens_total"))), legend: "tokens {{stage}}" },
      ],
    },
    {
      title: "Time per job by phase",
      description:
        "What a job spends its time on, on average. Fetch and publish are Redis and the network; decode, score and encode are the compute thread.",
      noData: NO_JOB,
      kind: "timeseries",
      unit: "s",
      stacked: true,
      queries: [
        {
          expr: `${sumBy(["phase"], rate(sumOf("dataflex_job_phase_seconds")))} / on () group_left () (sum (${rate(series("dataflex_jobs_total", { outcome: "completed" }))}) > 0)`,
          legend: "{{phase}}",
        },
      ],
    },
    {
      title: "Slowest phases",
      description: "95th percentile of each phase, and of the time between adding a job and its start.",
      noData: NO_JOB,
      kind: "timeseries",
      unit: "s",
      queries: [
        { expr: quantile(0.95, "dataflex_job_phase_seconds", ["phase"]), legend: "{{phase}}" },
        { expr: quantile(0.95, "dataflex_job_wait_seconds"), legend: "wait" },
      ],
    },
    {
      title: "Duration of a job",
      description: "95th percentile from start to finish of an execution of a job, by scorer.",
      noData: NO_JOB,
      kind: "timeseries",
      unit: "s",
      queries: [{ expr: quantile(0.95, "dataflex_job_duration_seconds", ["scorer"]), legend: "{{scorer}}" }],
    },
    {
      title: "Payload by encoding",
      description: "Bytes read and written a second. A jump in dense bytes is a trainer that sends whole matrices.",
      noData: NO_JOB,
      kind: "timeseries",
      unit: "Bps",
      stacked: true,
      queries: [
        {
          expr: sumBy(["direction", "encoding"], rate(series("dataflex_payload_bytes_total"))),
          legend: "{{direction}} {{encoding}}",
        },
      ],
    },
    {
      title: "Size of a job's payload",
      description: "95th percentile of the bytes that a job reads and writes.",
      noData: NO_JOB,
      kind: "timeseries",
      unit: "bytes",
      queries: [{ expr: quantile(0.95, "dataflex_payload_bytes", ["direction"]), legend: "{{direction}}" }],
    },
    {
      title: "Attempts by outcome",
      description: "Completed is right; superseded lost a race or came too late, which is harmless.",
      noData: NO_JOB,
      kind: "timeseries",
      unit: "ops",
      queries: [{ expr: sumBy(["outcome"], rate(series("dataflex_jobs_total"))), legend: "{{outcome}}" }],
    },
    {
      title: "Failures by reason",
      description:
        "Contract and decode are the trainer's data; score and act are components; lost, poison and timeout are workers that died or hung.",
      noData: NO_JOB,
      kind: "bars",
      unit: "short",
      queries: [{ expr: sumBy(["reason"], increase(series("dataflex_job_failures_total"))), legend: "{{reason}}" }],
    },
    {
      title: "Retries, stalls and lost locks",
      description:
        "Jobs tried again, jobs whose holder was gone, lock renewals that failed. Stalls without dead workers mean a starved machine.",
      noData: "no worker is running.",
      kind: "bars",
      unit: "short",
      queries: [
        { expr: `sum (${increase(series("dataflex_job_retries_total"))})`, legend: "retries" },
        { expr: `sum (${increase(series("dataflex_jobs_stalled_total", QUEUE))})`, legend: "stalls" },
        { expr: `sum (${increase(series("dataflex_lock_renewal_failures_total"))})`, legend: "lost locks" },
      ],
    },
    {
      title: "Streams: lag and pending",
      description: "Entries not yet read, and read but not acknowledged. Both should return to 0 within seconds.",
      noData: NO_LEADER,
      kind: "timeseries",
      unit: "short",
      min: 0,
      queries: [
        { expr: latest(["stream", "group"], series("dataflex_stream_lag_entries")), legend: "lag {{stream}}" },
        { expr: latest(["stream", "group"], series("dataflex_stream_pending_entries")), legend: "pending {{stream}}" },
        {
          expr: latest(["stream", "group"], series("dataflex_stream_oldest_pending_seconds")),
          legend: "oldest pending, s {{stream}}",
        },
      ],
    },
    {
      title: "Entries of streams",
      description:
        "What each stream holds. Dead are entries that nobody could read: somebody writes what this version does not know.",
      noData: NO_LEADER,
      kind: "timeseries",
      unit: "short",
      min: 0,
      queries: [{ expr: latest(["stream"], series("dataflex_stream_entries")), legend: "{{stream}}" }],
    },
    {
      title: "Bytes in flight",
      description:
        "Payload that Redis holds for open steps, beside all it uses. Bytes that stay after steps are trained on: the trainer does not release them.",
      noData: NO_LEADER,
      kind: "timeseries",
      unit: "bytes",
      min: 0,
      queries: [
        { expr: `max (${series("dataflex_inflight_bytes")})`, legend: "open steps" },
        { expr: `max (${series("dataflex_redis_memory_used_bytes")})`, legend: "Redis, all" },
      ],
    },
  ],
};
