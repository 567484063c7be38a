import type { StepResult } from "../../client/step-result.js";
import type { Handle } from "../../protocol/messages.js";
import { withRedis } from "../../redis/connect.js";
import { runKeys, stepKeyOf } from "../../redis/keys.js";
import { scanKeys } from "../../redis/scan-keys.js";
import type { Evidence } from "./answer.js";

/** Collects, before the step is released, the evidence that its weights went through the whole system. */
export function gatherEvidence(redisUrl: string, handle: Handle, result: StepResult): Promise<Evidence> {
  return withRedis(redisUrl, "replay", async (redis) => {
    const { prefix } = runKeys(handle.run).step(handle.incarnation, stepKeyOf(result.step, result.trigger));
    const streams = await scanKeys(redis, prefix, "stream");
    const sizes = await Promise.all(streams.map((key) => redis.xlen(key)));
    const pids = result.pipelines.map(({ producer }) => producer.pid);
    return {
      redis_run_id: /^run_id:(\w+)/m.exec(await redis.info("server"))?.[1] ?? "",
      stream_entries: sizes.reduce((sum, size) => sum + size, 0),
      job_ids: result.pipelines.map(({ producer }) => producer.job_id),
      worker_pid: pids[0],
      worker_pids: [...new Set(pids)],
    };
  });
}
