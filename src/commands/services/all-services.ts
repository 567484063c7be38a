import { ReleaseStack } from "../../lifecycle.js";
import { startPrivateRedis } from "../../redis/private-server.js";
import type { OwnComponents } from "./own-components.js";
import type { RunningService } from "./run-service.js";
import { startServices } from "./spawn.js";

export interface AllOptions {
  /** Absent: a private Redis. */
  readonly redis: string | undefined;
  readonly workers: number;
  readonly components: OwnComponents;
}

/** A broker and workers, with a private Redis where no address is given. The first service's `stop` stops them all, in order. */
export async function startAll(
  o: AllOptions,
): Promise<{ redisUrl: string; services: RunningService[]; stop(): Promise<void> }> {
  const stack = new ReleaseStack();
  try {
    let redisUrl = o.redis;
    if (redisUrl === undefined) {
      const redis = await startPrivateRedis();
      stack.push(() => redis.stop());
      redisUrl = redis.url;
    }
    const services = await startServices({ redisUrl, workers: o.workers, components: o.components });
    stack.push(() => services.stop());
    const stop = (): Promise<void> => stack.release();
    return { redisUrl, services: services.processes.map(({ ready, ended }) => ({ ready, ended, stop })), stop };
  } catch (error) {
    await stack.release();
    throw error;
  }
}
