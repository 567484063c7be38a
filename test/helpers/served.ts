import { Client } from "dataflex-mq";
import { runBroker, runWorker } from "dataflex-mq/server";
import { afterAll, beforeAll, vi } from "vitest";
import { startTestRedis, type TestRedis } from "./redis.js";

type Service = Awaited<ReturnType<typeof runBroker>>;
type WorkerFlags = Partial<Parameters<typeof runWorker>[1]>;

/** Services that serve HTTP, as their commands start them, and a client, for the tests of one file. */
export interface Served {
  redis: TestRedis;
  broker: Service;
  worker: Service;
  client: Client;
}

/** `worker`: flags of it; none at all without. */
export function useServed(worker?: WorkerFlags): Served {
  const served = {} as Served;
  beforeAll(async () => {
    vi.stubEnv("DFX_LOG", "error");
    served.redis = await startTestRedis();
    served.broker = await runBroker(served.redis.url, { http: "127.0.0.1:0" });
    if (worker) served.worker = await runWorker(served.redis.url, { http: "127.0.0.1:0", ...worker });
    served.client = await Client.connect({ redisUrl: served.redis.url });
  });
  afterAll(async () => {
    await served.client?.close();
    await served.worker?.stop();
    await served.broker?.stop();
    await served.redis?.stop();
  });
  return served;
}
