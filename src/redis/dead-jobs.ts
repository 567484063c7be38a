import type { Redis } from "ioredis";
import type { ErrorCode } from "../errors.js";
import { ALL_TAGS, runKeys, tagKeys } from "./keys.js";

/** A job that no worker could do: what it was about, and why. */
export interface DeadJob {
  readonly run: string;
  readonly incarnation: number;
  readonly step: string;
  readonly stage: string;
  readonly pipeline: string;
  readonly attempt: number;
  readonly scorer: string;
  readonly actuator: string;
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly stack?: string;
  readonly worker: string;
  readonly puts: readonly { readonly hash: string; readonly bytes: number; readonly columns: readonly DeadColumn[] }[];
}
interface DeadColumn {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
}
/** `id` names it for `dead show`, `retry` and `drop`; `at`: Unix time in ms. */
export interface ListedDeadJob extends DeadJob {
  readonly id: string;
  readonly at: number;
}

/** What was wrong with the job or its component: an input that is refused has its trainer to answer for it. */
const DEAD: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "POISON",
  "COMPONENT",
  "COMPUTE_TIMEOUT",
  "COMPUTE_LOST",
  "OUT_OF_MEMORY",
  "INTERNAL",
]);
export const isDead = (code: ErrorCode): boolean => DEAD.has(code);

const KEPT = 1_000;
/** Of one record; texts beyond are cut. */
const TEXT_CHARS = 4_000;
const PUTS = 64;
const DETAILS_CHARS = 16_000;

export async function addDeadJob(redis: Redis, job: DeadJob): Promise<void> {
  const { message, stack, puts, details } = job;
  const record: DeadJob = {
    ...job,
    message: message.slice(0, TEXT_CHARS),
    ...(stack !== undefined && { stack: stack.slice(0, TEXT_CHARS) }),
    puts: puts.slice(0, PUTS),
    details: JSON.stringify(details).length > DETAILS_CHARS ? {} : details,
  };
  await redis.xadd(runKeys(job.run).deadJobs, "MAXLEN", "~", KEPT, "*", "record", JSON.stringify(record));
}

/** The newest first. */
export async function listDeadJobs(redis: Redis, count = KEPT): Promise<ListedDeadJob[]> {
  const all = await Promise.all(
    ALL_TAGS.map((tag) => redis.xrevrange(tagKeys(tag).deadJobs, "+", "-", "COUNT", count)),
  );
  return all
    .flat()
    .map(read)
    .sort((a, b) => b.at - a.at);
}

export async function findDeadJob(redis: Redis, id: string): Promise<ListedDeadJob | undefined> {
  for (const tag of ALL_TAGS) {
    const [entry] = await redis.xrange(tagKeys(tag).deadJobs, id, id);
    if (entry) return read(entry);
  }
  return undefined;
}

export async function dropDeadJob(redis: Redis, job: ListedDeadJob): Promise<void> {
  await redis.xdel(runKeys(job.run).deadJobs, job.id);
}

function read([id, fields]: [string, string[]]): ListedDeadJob {
  return { ...(JSON.parse(fields[1] ?? "{}") as DeadJob), id, at: Number(id.split("-")[0]) };
}
