import type { TestRedis } from "./redis.js";

/**
 * What a replica that lags behind its master has when it is promoted: the server as it was at the call. The function that comes back
 * puts the server into that state, whatever was acknowledged in between.
 */
export async function lagging(redis: TestRedis): Promise<() => Promise<void>> {
  const keys = await redis.keys("*");
  const values = await Promise.all(
    keys.map(async (key) => ({ key, dump: await redis.raw.dumpBuffer(key), ttl: await redis.raw.pttl(key) })),
  );
  return async () => {
    const promoting = redis.raw.multi().flushall();
    for (const { key, dump, ttl } of values) if (dump) promoting.restore(key, Math.max(ttl, 0), dump);
    const answers = await promoting.exec();
    for (const [error] of answers ?? []) if (error) throw error;
  };
}
