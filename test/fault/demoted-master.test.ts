import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { advantageStep, REWEIGHT, softmaxWeights, valuesOf, worst } from "../helpers/batches.js";
import { eventually } from "../helpers/eventually.js";
import { freePort } from "../helpers/ports.js";
import { holders, SCORERS, useFolder } from "../helpers/processes.js";
import { startTestRedis, type TestRedis } from "../helpers/redis.js";
import { System } from "../helpers/system.js";

const STAGE = "post_advantage";
const folder = useFolder();
const pathOf = (url: string): string => url.slice("unix://".length);

async function startServer(): Promise<TestRedis & { port: string }> {
  const port = String(await freePort());
  return {
    ...(await startTestRedis(["--bind", "127.0.0.1", "--port", port, "--repl-diskless-sync-delay", "0"])),
    port,
  };
}

test("after a failover that leaves old connections open to the demoted master, every step goes on with the new one", async () => {
  const [old, next] = await Promise.all([startServer(), startServer()]);
  const address = join(folder, "redis.sock");
  symlinkSync(pathOf(old.url), address);
  const system = new System();
  system.redis = { ...old, url: `unix://${address}` };
  try {
    await system.broker();
    await system.worker({ slots: 2, plugins: [SCORERS] });
    const gated = { ...REWEIGHT, scorer: { name: "gated", params: { folder } } };
    const [plain, held] = [await system.mount(), await system.mount(gated)];
    const rank = await (await system.client()).attach(plain.handle.run);
    await next.raw.call("REPLICAOF", "127.0.0.1", old.port);
    await eventually(async () => (await next.raw.info("replication")).includes("master_link_status:up"), {
      what: "the replica's first synchronisation",
    });
    // One is computed, and one is waited for, while the server changes.
    await held.put(1, STAGE, { ...advantageStep(valuesOf(1)) });
    const during = held.weights(1, { timeoutMs: 30_000 });
    await eventually(() => holders(folder, held.handle.run, 1).length > 0);
    await next.raw.call("REPLICAOF", "NO", "ONE");
    await old.raw.call("REPLICAOF", "127.0.0.1", next.port);
    rmSync(address);
    symlinkSync(pathOf(next.url), address);
    writeFileSync(join(folder, "open-1"), "");
    const [p] = (await during).pipelines;
    expect(worst(p!.weights, softmaxWeights(valuesOf(1)))).toBeLessThan(1e-5);
    for (let step = 2; step < 5; step++) {
      const { advantages, response_mask } = advantageStep(valuesOf(step));
      const half = (from: number, to: number) => ({
        advantages: advantages.slice(from, to),
        response_mask: response_mask.slice(from, to),
      });
      await rank.put(step, STAGE, half(0, 2), { rows: [0, 2], total_rows: 4, timeoutMs: 20_000 });
      await plain.put(step, STAGE, half(2, 4), { rows: [2, 4], total_rows: 4, timeoutMs: 20_000 });
      const [p] = (await plain.weights(step, { timeoutMs: 30_000 })).pipelines;
      expect(worst(p!.weights, softmaxWeights(valuesOf(step)))).toBeLessThan(1e-5);
      expect(await plain.release(step)).not.toBe("UNKNOWN");
    }
    await eventually(() => [...system.brokers, ...system.workers].every((service) => service.isReady), {
      what: "services that are ready",
    });
    await eventually(async () => (await old.connections()).length === 0, {
      what: "no connection to the demoted master",
      timeoutMs: 15_000,
    });
  } finally {
    await system.stop();
    await next.stop();
  }
}, 90_000);
