import { runBroker, runWorker } from "dataflex-mq/server";
import { expect, test } from "vitest";
import { eventually } from "../helpers/eventually.js";
import { FaultProxy } from "../helpers/fault-proxy.js";
import { startTestRedis } from "../helpers/redis.js";

test.each([
  ["broker", runBroker],
  ["worker", runWorker],
] as const)(
  "a %s with half-open connections is not ready, yet alive, and ready again by itself",
  async (_, start) => {
    const redis = await startTestRedis();
    const wire = await FaultProxy.start(redis.url);
    const service = await start(wire.url, { http: "127.0.0.1:0" });
    const get = async (path: string): Promise<number> => (await fetch(`${service.ready.http}${path}`)).status;
    const reaches = (status: number) =>
      eventually(async () => (await get("/readyz")) === status, { what: `/readyz ${status}`, timeoutMs: 40_000 });
    try {
      await reaches(200);
      wire.freeze();
      await reaches(503);
      expect(await get("/healthz")).toBe(200);
      // The frozen connections are replaced: nobody has to restart the service.
      await reaches(200);
    } finally {
      await service.stop();
      await wire.stop();
      await redis.stop();
    }
  },
  120_000,
);
