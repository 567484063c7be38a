import { DataflexError } from "../errors.js";
import type { Producer, PutHeader, Receipt } from "../protocol/messages.js";
import type { JobOutcome } from "../protocol/outcome-words.js";
import { addDeadJob, type DeadJob, isDead } from "../redis/dead-jobs.js";
import type { ActiveJob } from "../redis/queue/job-consumer.js";
import { whileRefused } from "../redis/refusals.js";
import { letGo } from "../redis/scripts/begin.js";
import { settleFailure } from "../redis/scripts/settle.js";
import { VERSION } from "../version.js";
import type { ComputeHost } from "./compute/host.js";
import type { Ask, JobContext, JobExecution } from "./job-context.js";
import { scoreJob } from "./score-job.js";

/**
 * One execution of a job: begin → fetch → compute → settle. It ends with a receipt, or throws to be retried. An error that
 * a retry cannot fix, or one in the last execution, is settled as a typed failure: no job ever ends as failed.
 */
export async function processJob(job: ActiveJob, compute: Pick<ComputeHost, "run">, c: JobContext): Promise<Receipt> {
  const started = performance.now();
  const handle = await c.handles.get(job.data.run, job.data.incarnation);
  const spec = handle?.pipelines.find((p) => p.name === job.data.pipeline);
  const report = (outcome: JobOutcome, more: Partial<JobExecution> = {}): void =>
    c.onExecution({
      job: job.data,
      spec,
      outcome,
      waitMs: 0,
      totalMs: performance.now() - started,
      readBytes: 0,
      writtenBytes: 0,
      readColumns: [],
      ...more,
    });
  if (!handle || !spec) {
    report("superseded", { reason: "NOT_MOUNTED" });
    return { outcome: "superseded", reason: "NOT_MOUNTED", worker: c.workerId };
  }
  const producer: Producer = { worker: c.workerId, pid: process.pid, job_id: job.id, version: VERSION };
  const of = { content: job.data.content, puts: [] as readonly string[] };
  let headers: readonly PutHeader[] = [];
  // While Redis refuses what is asked of it, the job waits for it, with what it has computed.
  let end = started + handle.max_wait_ms;
  const ask: Ask = (what, work) => whileRefused(end, what, work, { full: true });
  try {
    const done = await scoreJob({ job, compute, context: c, handle, spec, producer, started, ask }, (begun) => {
      headers = begun.puts.map((put) => put.header);
      of.puts = headers.map(({ hash }) => hash);
      end = performance.now() + begun.deadline - begun.now;
    });
    const outcome = done.word === "OK" ? "completed" : "superseded";
    report(outcome, { reason: done.word, ...done.facts });
    return { outcome, reason: done.word, worker: c.workerId };
  } catch (thrown) {
    const error = DataflexError.from(thrown);
    const { code, message, details } = error;
    const again = error.retryable && !job.last;
    const stack = error.cause instanceof Error ? error.cause.stack : undefined;
    c.log.warn(
      { run: job.data.run, step: job.data.step, pipeline: spec.name, code, err: message, ...(stack && { stack }) },
      again ? "tried again" : "settled as a failure",
    );
    if (again) {
      report("retried", { reason: code });
      await letGo(c.redis, job.data, c.workerId);
      throw error;
    }
    const failure = {
      pipeline: spec.name,
      stage: spec.stage,
      attempt: job.data.attempt,
      code,
      message,
      details,
      producer,
    };
    const madeOf = code === "EXPIRED" ? undefined : of;
    const word = await ask("settling a failure", () =>
      settleFailure(c.redis, job.data, failure, handle.limits, madeOf),
    );
    if (word === "OK" && isDead(code)) {
      const { run, incarnation, step } = job.data;
      const why = { code, message, details, ...(stack !== undefined && { stack }), worker: c.workerId };
      const scored = { scorer: spec.scorer?.name ?? "", actuator: spec.actuator.name };
      const { stage, name: pipeline } = spec;
      const { attempt } = job.data;
      // The failure is settled; that it is listed as well is for people.
      await addDeadJob(c.redis, {
        run,
        incarnation,
        step,
        stage,
        pipeline,
        attempt,
        ...scored,
        ...why,
        puts: headers.map(shapes),
      }).catch((lost) => c.log.warn({ err: String(lost) }, "a dead job could not be listed"));
    }
    const rows = Number(details.count);
    report("failed", { reason: code, ...(code === "NON_FINITE" && { nonfinite: rows > 0 ? rows : 1 }) });
    return { outcome: "failed", reason: word === "OK" ? code : word, worker: c.workerId };
  }
}

const shapes = ({ hash, bytes, columns }: PutHeader): DeadJob["puts"][number] => ({
  hash,
  bytes,
  columns: columns.map(({ name, dtype = "string", shape }) => ({ name, dtype, shape })),
});
