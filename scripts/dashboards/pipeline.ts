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
        "A growing number of waiting jobs means overload, or that no worker serves the queue: compare with workers and slots.",
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
        "How long the oldest job has waited. It should stay near 0; above 2 minutes there are no workers, or they take no jobs.",
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
      description: "Rows and tokens weighted per second, over all workers.",
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
        "Average time of a job by phase. Fetch and publish are Redis and the network; decode, score and encode are the compute thread.",
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
      description: "95th percentile of the time from start to finish of one execution, by scorer.",
      noData: NO_JOB,
      kind: "timeseries",
      unit: "s",
      queries: [{ expr: quantile(0.95, "dataflex_job_duration_seconds", ["scorer"]), legend: "{{scorer}}" }],
    },
    {
      title: "Payload by encoding",
      description: "Bytes read and written per second. A jump in dense bytes is a trainer that sends whole matrices.",
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
      title: "Executions of jobs by outcome",
      description: "Completed is good; superseded ones lost a race or came too late, which is harmless.",
      noData: NO_JOB,
      kind: "timeseries",
      unit: "ops",
      queries: [{ expr: sumBy(["outcome"], rate(series("dataflex_jobs_total"))), legend: "{{outcome}}" }],
    },
    {
      title: "Failures by reason",
      description:
        "Contract and decode point to the trainer's data, score and act to components, lost, poison and timeout to workers that died or hung.",
      noData: NO_JOB,
      kind: "bars",
      unit: "short",
      queries: [{ expr: sumBy(["reason"], increase(series("dataflex_job_failures_total"))), legend: "{{reason}}" }],
    },
    {
      title: "Retries, stalls and lost locks",
      description:
        "Jobs that were retried, jobs whose worker was gone, and lock renewals that failed. Stalls without dead workers mean that a machine is overloaded.",
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
      description:
        "Entries that were not read yet, or read but not acknowledged. Both should return to 0 within seconds.",
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
        "Entries in each stream. Dead entries could not be read: something writes messages that this version does not know.",
      noData: NO_LEADER,
      kind: "timeseries",
      unit: "short",
      min: 0,
      queries: [{ expr: latest(["stream"], series("dataflex_stream_entries")), legend: "{{stream}}" }],
    },
    {
      title: "Bytes in flight",
      description:
        "Payload that Redis holds for open steps, and all the memory it uses. If the bytes stay after their steps were trained on, the trainer does not release them.",
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
