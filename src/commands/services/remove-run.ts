import type { Handle } from "../../protocol/messages.js";
import { withRedis } from "../../redis/connect.js";
import { runKeys, sharedKeys } from "../../redis/keys.js";
import { scanKeys } from "../../redis/scan-keys.js";

/** Removes every key of a run that a command created for itself: no other producer knows it. */
export function removeRun(redisUrl: string, handle: Handle): Promise<void> {
  return withRedis(redisUrl, "command", async (redis) => {
    const keys = runKeys(handle.run);
    const own = await scanKeys(redis, `${keys.runBase}:`);
    // The mount first: without it no broker writes history any more.
    await redis.unlink(sharedKeys.reply(handle.mount_id), ...own);
    await redis.unlink(keys.history, keys.historyRows);
    await redis.zrem(keys.runs, keys.encoded);
  });
}
