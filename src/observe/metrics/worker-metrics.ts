import { SCORE_EDGES, WEIGHT_EDGES } from "../../scoring/distribution.js";
import { BYTE_BUCKETS, LATENCY_BUCKETS, SCORE_BUCKETS, WEIGHT_BUCKETS } from "./buckets.js";
import { exportedBy } from "./define-metric.js";

const SCORES = ["run", "pipeline", "delivered", "scorer"] as const;

/** Facts of each worker, which add up over workers. */
const worker = exportedBy(["worker"]);

export const WORKER_METRICS = [
  // distributions
  worker.binned(
    "dataflex_weight_value",
    ["run", "pipeline", "delivered", "stage", "mechanism"],
    WEIGHT_EDGES,
    WEIGHT_BUCKETS,
    "Published weights, one per row or per token as the pipeline gives them; of large steps an evenly spaced sample.",
  ),
  worker.binned(
    "dataflex_score_value",
    SCORES,
    SCORE_EDGES,
    SCORE_BUCKETS,
    "Scores before the actuator; of large steps an evenly spaced sample.",
  ),
  worker.counter(
    "dataflex_weights_nonfinite_total",
    ["run", "pipeline", "delivered", "stage", "scorer"],
    "Rows with a field or score that was NaN or infinite, before on_nonfinite decided what happens to them.",
  ),
  // jobs of this worker
  worker.counter(
    "dataflex_jobs_total",
    ["stage", "scorer", "outcome"],
    "Executions of jobs by outcome: completed, failed, retried, superseded.",
  ),
  worker.counter(
    "dataflex_job_failures_total",
    ["stage", "scorer", "reason"],
    "Failed and retried executions of jobs by reason.",
  ),
  worker.counter(
    "dataflex_job_retries_total",
    ["stage", "scorer"],
    "Executions whose job went back to its queue to be tried again.",
  ),
  worker.histogram(
    "dataflex_job_duration_seconds",
    ["stage", "scorer"],
    LATENCY_BUCKETS,
    "Start to finish of one execution of a job, whatever its outcome.",
  ),
  worker.histogram(
    "dataflex_job_phase_seconds",
    ["stage", "phase"],
    LATENCY_BUCKETS,
    "Time a completed job spent in each phase; score covers the scorer and the actuator.",
  ),
  worker.histogram(
    "dataflex_job_wait_seconds",
    ["stage"],
    LATENCY_BUCKETS,
    "Time from adding a job to its start, on Redis' clock.",
  ),
  worker.counter("dataflex_samples_total", ["stage"], "Rows weighted by completed jobs."),
  worker.counter("dataflex_tokens_total", ["stage"], "Tokens under the mask weighted by completed jobs."),
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
  worker.gauge("dataflex_tensor_bytes", ["backend"], "Bytes of the tensors that were alive after the last job."),
  worker.gauge("dataflex_tensors", ["backend"], "Tensors alive after the last job; a growing number is a leak."),
  worker.gauge(
    "dataflex_python_slots",
    ["device"],
    "Slots whose Python process is up, by device; absent for a worker without Python plugins.",
  ),
  worker.gauge("dataflex_python_slots_down", [], "Slots whose Python process is down; each is started again."),
  worker.counter(
    "dataflex_python_restarts_total",
    [],
    "Python processes that were started again after they had ended.",
  ),
  worker.gauge(
    "dataflex_python_memory_bytes",
    ["device"],
    "Memory that the Python processes hold: resident on cpu, reserved on gpu as of the last call.",
  ),
  worker.gauge(
    "dataflex_last_job_timestamp_seconds",
    [],
    "Unix time at which the last job ended; absent before the first.",
  ),
  worker.gauge("dataflex_ready", [], "1 when this worker can be given jobs."),
] as const;
