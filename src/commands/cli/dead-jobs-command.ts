import type { Redis } from "ioredis";
import { DataflexError } from "../../errors.js";
import { dropDeadJob, findDeadJob, type ListedDeadJob, listDeadJobs } from "../../redis/dead-jobs.js";
import { runKeys } from "../../redis/keys.js";
import { readHandle } from "../../redis/mounts.js";
import { retryStep } from "../../redis/scripts/retry.js";
import { plain, tableText } from "./table.js";

export const readAll = (redis: Redis): Promise<ListedDeadJob[]> => listDeadJobs(redis);

/** @throws DataflexError USAGE for an id that is not listed. */
export async function find(redis: Redis, id: string): Promise<ListedDeadJob> {
  const found = /^\d+-\d+$/.test(id) ? await findDeadJob(redis, id) : undefined;
  if (found) return found;
  throw new DataflexError("USAGE", `no dead job "${plain(id)}": dataflex-mq dead ls lists them`, { id });
}

export function listText(jobs: readonly ListedDeadJob[], columns: number | undefined): string {
  const rows = jobs.map((job) => [
    ...[job.id, new Date(job.at).toISOString(), job.run, job.step, job.pipeline, componentOf(job), job.code],
    job.message.split("\n")[0]!,
  ]);
  const heads = ["id", "when", "run", "step", "pipeline", "component", "code", "why"];
  return tableText("dead jobs", heads, rows, "none", columns);
}

export function showText(job: ListedDeadJob): string {
  const facts: readonly (readonly [string, string])[] = [
    ["id", job.id],
    ["when", new Date(job.at).toISOString()],
    ["run", `${job.run}, incarnation ${job.incarnation}`],
    ["step", `${job.step} at ${job.stage}, attempt ${job.attempt}`],
    ["pipeline", `${job.pipeline}: ${componentOf(job)}`],
    ["worker", job.worker],
    ["error", `${job.code}: ${job.message}`],
    ...job.puts.flatMap((put): (readonly [string, string])[] => [
      ["put", `${put.hash}, ${put.bytes} bytes`],
      ...put.columns.map((c): readonly [string, string] => ["", `${c.name} ${c.dtype} [${c.shape.join(", ")}]`]),
    ]),
  ];
  const lines = facts.map(([name, text]) => `${name.padEnd(10)}${plain(text)}`);
  const stack = job.stack === undefined ? [] : ["", ...job.stack.split("\n").map(plain)];
  return `${[...lines, ...stack].join("\n")}\n`;
}

/** Retries or drops one, or `all`. What was retried leaves the list; so does what cannot be retried any more, which is said. */
export async function each(
  redis: Redis,
  id: string,
  action: "retry" | "drop",
): Promise<{ readonly job: string; readonly said: string }[]> {
  const jobs = id === "all" ? await listDeadJobs(redis) : [await find(redis, id)];
  const done: { job: string; said: string }[] = [];
  for (const job of jobs) {
    const said = action === "drop" ? "dropped" : await retried(redis, job);
    await dropDeadJob(redis, job);
    done.push({ job: job.id, said });
  }
  return done;
}

async function retried(redis: Redis, { run, incarnation, step, pipeline }: ListedDeadJob): Promise<string> {
  const handle = await readHandle(redis, runKeys(run));
  if (handle?.incarnation !== incarnation) return "gone: its trainer has ended, or another one has taken the run";
  const { word, attempt } = await retryStep(redis, handle, step, pipeline);
  if (word === "OK") return `step ${step} is computed again, as attempt ${attempt}`;
  if (word === "NOT_FAILED") return "not needed: the step has another outcome, or an attempt under way";
  return "gone: its step was released, or has expired";
}

const componentOf = ({ scorer, actuator }: ListedDeadJob): string => (scorer ? `${scorer} → ${actuator}` : actuator);
