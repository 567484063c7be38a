import type { Dashboard } from "./panel.js";
import { latest, processSeries, quantile, rate, series, sumBy } from "./promql.js";

const QUEUE = { queue: "$queue" } as const;
const OURS = { job: "/dataflex-.*/" } as const;
const NO_WORKER = "no worker is running, or Prometheus does not find them.";
const NO_PROCESS = "Prometheus reaches no process of ours: look at its targets.";
const NO_LEADER = "no broker leads: are they all down?";

/** Are processes and Redis well? */
export const platform: Dashboard = {
  uid: "dataflex-platform",
  title: "dataflex-mq: workers and Redis",
  description: "Capacity, processes, devices, versions and Redis.",
  variables: [{ name: "queue", query: `label_values(${series("dataflex_queue_jobs")}, queue)` }],
  panels: [
    {
      title: "Workers",
      description: "Live workers that serve a queue, by backend, from heartbeats.",
      noData: "no worker lives. Start one: dataflex-mq worker",
      kind: "timeseries",
      unit: "short",
      min: 0,
      queries: [
        {
          expr: sumBy(["queue", "backend"], latest(["queue", "backend"], series("dataflex_workers", QUEUE))),
          legend: "{{queue}} {{backend}}",
        },
      ],
    },
    {
      title: "Slots",
      description:
        "Jobs that the live workers of a queue can run at once, and the mounted scorers that need the queue.",
      noData: NO_LEADER,
      kind: "timeseries",
      unit: "short",
      min: 0,
      queries: [
        { expr: latest(["queue"], series("dataflex_worker_slots", QUEUE)), legend: "slots {{queue}}" },
        { expr: latest(["queue", "scorer"], series("dataflex_scorer_mounted", QUEUE)), legend: "mounted {{scorer}}" },
      ],
    },
    {
      title: "Slots in use",
      description: "If this stays at 1, more workers would make steps faster.",
      noData: NO_WORKER,
      kind: "timeseries",
      unit: "percentunit",
      min: 0,
      max: 1,
      queries: [
        { expr: `sum (${series("dataflex_jobs_active")}) / sum (${series("dataflex_job_slots")})`, legend: "in use" },
      ],
    },
    {
      title: "Readiness and last job",
      description:
        "Whether each worker can be given jobs, and how long ago its last job ended. A worker that is ready and long idle while jobs wait is stuck.",
      noData: NO_WORKER,
      kind: "timeseries",
      unit: "s",
      queries: [
        { expr: series("dataflex_ready"), legend: "ready {{instance}}" },
        { expr: `time() - ${series("dataflex_last_job_timestamp_seconds")}`, legend: "since last job {{instance}}" },
      ],
    },
    {
      title: "Trainers",
      description: "Time since each trainer's last heartbeat. Above 10 s the trainer is dead, or its process hangs.",
      noData: "no run was mounted in the time shown.",
      kind: "timeseries",
      unit: "s",
      queries: [
        {
          expr: `time() - ${latest(["run"], series("dataflex_trainer_last_seen_timestamp_seconds"))}`,
          legend: "{{run}}",
        },
      ],
    },
    {
      title: "Event-loop lag",
      description:
        "99th percentile. Above 1 s a process cannot renew its locks: something blocks its main thread, or the machine is overloaded.",
      noData: NO_PROCESS,
      kind: "timeseries",
      unit: "s",
      queries: [{ expr: processSeries("nodejs_eventloop_lag_p99_seconds", OURS), legend: "{{instance}}" }],
    },
    {
      title: "Processor cores",
      description: "Cores that each process uses.",
      noData: NO_PROCESS,
      kind: "timeseries",
      unit: "short",
      queries: [{ expr: rate(processSeries("process_cpu_seconds_total", OURS)), legend: "{{instance}}" }],
    },
    {
      title: "Resident memory",
      description: "A line that only climbs is a leak.",
      noData: NO_PROCESS,
      kind: "timeseries",
      unit: "bytes",
      queries: [{ expr: processSeries("process_resident_memory_bytes", OURS), legend: "{{instance}}" }],
    },
    {
      title: "Tensors",
      description:
        "Tensors alive after each job. There are none for scorers that do not use tensors; a growing number is a leak.",
      noData: NO_WORKER,
      kind: "timeseries",
      unit: "short",
      queries: [{ expr: series("dataflex_tensors"), legend: "{{instance}} {{backend}}" }],
    },
    {
      title: "Bytes of tensors",
      description: "Memory that those tensors hold.",
      noData: NO_WORKER,
      kind: "timeseries",
      unit: "bytes",
      queries: [{ expr: series("dataflex_tensor_bytes"), legend: "{{instance}} {{backend}}" }],
    },
    {
      title: "Python processes",
      description:
        "Slots whose Python process is up, by device, those that are down, and how often one was started again. A slot that is down takes no job of its plugins.",
      noData: "no worker has Python plugins.",
      kind: "timeseries",
      unit: "short",
      min: 0,
      queries: [
        { expr: series("dataflex_python_slots"), legend: "{{instance}} {{device}}" },
        { expr: series("dataflex_python_slots_down"), legend: "{{instance}} down" },
        { expr: rate(series("dataflex_python_restarts_total")), legend: "{{instance}} restarts a second" },
      ],
    },
    {
      title: "Memory of Python processes",
      description: "Resident memory, and the GPU memory that torch has reserved. A line that only climbs is a leak.",
      noData: "no worker has Python plugins.",
      kind: "timeseries",
      unit: "bytes",
      queries: [{ expr: series("dataflex_python_memory_bytes"), legend: "{{instance}} {{device}}" }],
    },
    {
      title: "Devices",
      description:
        "The device that each worker uses, and the one it was asked for. Fallback 1: a GPU was asked for and is not in use.",
      noData: NO_WORKER,
      kind: "table",
      unit: "short",
      queries: [
        {
          expr: latest(["instance", "backend", "device", "precision", "requested"], series("dataflex_device_info")),
          legend: "{{instance}} {{backend}} {{device}}",
        },
        { expr: series("dataflex_device_fallback"), legend: "fallback {{instance}}" },
      ],
    },
    {
      title: "Versions",
      description:
        "Processes by role and version. Two versions at once mean an upgrade, possibly one that stopped half-way.",
      noData: NO_PROCESS,
      kind: "table",
      unit: "short",
      queries: [
        {
          expr: `count by (role, version, node, protocol) (${series("dataflex_build_info")})`,
          legend: "{{role}} {{version}}",
        },
      ],
    },
    {
      title: "Redis: share of its memory",
      description: "At 100 % writes fail, since nothing may be evicted.",
      noData: "Redis has no memory limit (maxmemory 0): set one.",
      kind: "timeseries",
      unit: "percentunit",
      min: 0,
      max: 1,
      bands: [
        [0, "green"],
        [0.8, "red"],
      ],
      queries: [
        {
          expr: `max (${series("dataflex_redis_memory_used_bytes")}) / (max (${series("dataflex_redis_memory_max_bytes")}) > 0)`,
          legend: "used",
        },
      ],
    },
    {
      title: "Redis: round trip",
      description: "99th percentile of the brokers' probes. It is part of every phase of every step.",
      noData: "no broker is running.",
      kind: "timeseries",
      unit: "s",
      queries: [{ expr: quantile(0.99, "dataflex_redis_ping_seconds"), legend: "p99" }],
    },
    {
      title: "Redis: settings",
      description:
        "1 if a setting is safe. maxmemory_policy and version decide whether services start at all; without aof a restart forgets open steps; without maxmemory Redis may take all the machine's memory; acl: access needs a password; tls: nobody on the network can read along. dataflex-mq doctor prints the commands that fix each.",
      noData: NO_LEADER,
      kind: "table",
      unit: "short",
      bands: [
        [0, "red"],
        [1, "green"],
      ],
      queries: [
        { expr: latest(["check"], series("dataflex_redis_config_ok")), legend: "{{check}}" },
        { expr: latest(["instance"], series("dataflex_redis_up")), legend: "up, seen from {{instance}}" },
      ],
    },
    {
      title: "Leading broker",
      description:
        "1 on the broker that exports the shared metrics. If none is 1 for more than 13 s, there is a problem with the lease or with Redis.",
      noData: "no broker is running.",
      kind: "timeseries",
      unit: "short",
      min: 0,
      max: 1,
      queries: [{ expr: series("dataflex_broker_leader"), legend: "{{instance}}" }],
    },
    {
      title: "Live pages",
      description:
        "Open live pages, by broker. The visible tabs of a browser share one stream; hidden tabs close theirs.",
      noData: "no broker is running.",
      kind: "timeseries",
      unit: "short",
      min: 0,
      queries: [{ expr: series("dataflex_sse_clients"), legend: "{{instance}}" }],
    },
    {
      title: "Series per scrape",
      description: "Must stay constant during a run; beyond 20,000 Prometheus refuses the scrape.",
      noData: NO_PROCESS,
      kind: "timeseries",
      unit: "short",
      queries: [
        { expr: processSeries("scrape_samples_scraped", OURS), legend: "{{instance}}" },
        {
          expr: `sum (${rate(series("dataflex_metrics_dropped_total"))}) or vector(0)`,
          legend: "values dropped a second",
        },
      ],
    },
  ],
};
