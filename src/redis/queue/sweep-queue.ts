import type { Queue } from "bullmq";
import type { Redis } from "ioredis";
import type { JobData, Receipt } from "../../protocol/messages.js";
import { QUEUE_PREFIX } from "../keys.js";
import { scanKeys } from "../scan-keys.js";

/** States in which a job waits for a worker. */
const WAITING = ["waiting", "delayed", "prioritized"] as const;
const PAGE = 256;
/** What BullMQ keeps of a queue without jobs; each of these is made again when a job is added. */
const EMPTY_QUEUE_KEYS = ["meta", "id", "events", "marker", "stalled-check"] as const;

/** Every queue that Redis has something of. */
export async function queueNames(redis: Redis): Promise<string[]> {
  const metas = await scanKeys(redis, `${QUEUE_PREFIX}:`, "hash");
  return metas.filter((key) => key.endsWith(":meta")).map((key) => key.slice(QUEUE_PREFIX.length + 1, -":meta".length));
}

/** Removes waiting jobs that nothing needs any more. Answers how many. */
export async function removeMoot(
  queue: Queue<JobData, Receipt>,
  isMoot: (job: JobData) => Promise<boolean>,
): Promise<number> {
  let removed = 0;
  for (const state of WAITING) {
    for (let kept = 0; ; ) {
      const jobs = await queue.getJobs([state], kept, kept + PAGE - 1, true);
      for (const job of jobs) {
        // A job may end between the two commands; one that cannot be read is nobody's.
        if (job && (await isMoot(job.data)) && (await queue.remove(job.id!)) === 1) removed++;
        else kept++;
      }
      if (jobs.length < PAGE) break;
    }
  }
  return removed;
}

/** Removes what is left of a queue that has no job, unless somebody has paused it. Answers whether it went. */
export async function removeIfEmpty(redis: Redis, queue: Queue<JobData, Receipt>): Promise<boolean> {
  const counts = await queue.getJobCounts(...WAITING, "active", "waiting-children", "completed", "failed");
  if (Object.values(counts).some((count) => count > 0) || (await queue.isPaused())) return false;
  await redis.unlink(...EMPTY_QUEUE_KEYS.map((name) => queue.toKey(name)));
  return true;
}
