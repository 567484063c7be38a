import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "dataflex-mq";
import type { Broker, Worker } from "dataflex-mq/server";
import type { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ErrorCode } from "../../src/errors.js";
import { connect } from "../../src/redis/connect.js";
import { advantageStep, REWEIGHT, softmaxWeights, valuesOf, worst } from "../helpers/batches.js";
import { eventually, rejection } from "../helpers/eventually.js";
import { startTestRedis } from "../helpers/redis.js";
import { System } from "../helpers/system.js";

const STAGE = "post_advantage";
const LIMIT_MS = 60_000;
const SLOW_LOAD_KEYS = 3_000;

const folder = join(mkdtempSync(join(tmpdir(), "dfx-refuses-")), "data");
const system = new System();
let client: Client;
/** Does what would keep its own connection waiting. */
let side: Redis;

beforeAll(async () => {
  // A folder stands where one file is to be written.
  mkdirSync(join(folder, "taken"), { recursive: true });
  system.redis = await startTestRedis([
    "--dir",
    folder,
    "--enable-debug-command",
    "yes",
    "--enable-protected-configs",
    "yes",
  ]);
  side = await connect(system.redis.url, "command", { name: "test" });
  await system.broker();
  await system.worker();
  client = await system.client();
});
afterAll(async () => {
  side.disconnect();
  await system.stop();
  rmSync(join(folder, ".."), { recursive: true, force: true });
});

interface Refusing {
  readonly code: ErrorCode;
  /** What the message says of the cause, and what to do. */
  readonly says: RegExp;
  readonly begin: () => Promise<unknown>;
  readonly end: () => Promise<unknown>;
}

const config = (name: string, value: string) => () => system.redis.raw.config("SET", name, value);
const bgsave = async (): Promise<void> => {
  await system.redis.raw.bgsave();
  await eventually(async () => (await system.redis.raw.info("persistence")).includes("rdb_bgsave_in_progress:0"));
};

const REFUSALS: Readonly<Record<string, Refusing>> = {
  "READONLY, a demoted master": {
    code: "REDIS_REFUSED",
    says: /replica .*READONLY.*name the master/,
    begin: () => system.redis.raw.call("REPLICAOF", "127.0.0.1", "1"),
    end: () => system.redis.raw.call("REPLICAOF", "NO", "ONE"),
  },
  "MASTERDOWN, a replica without its master": {
    code: "REDIS_REFUSED",
    says: /replica .*(READONLY|MASTERDOWN).*name the master/,
    begin: async () => {
      await config("replica-serve-stale-data", "no")();
      await system.redis.raw.call("REPLICAOF", "127.0.0.1", "1");
    },
    end: async () => {
      await system.redis.raw.call("REPLICAOF", "NO", "ONE");
      await config("replica-serve-stale-data", "yes")();
    },
  },
  "MISCONF, a disk that takes nothing": {
    code: "REDIS_REFUSED",
    says: /MISCONF.*disk full/,
    begin: async () => {
      await config("save", "3600 1")();
      await config("dbfilename", "taken")();
      await bgsave();
    },
    end: async () => {
      await config("dbfilename", "dump.rdb")();
      await bgsave();
      await config("save", "")();
    },
  },
  "NOREPLICAS, too few replicas": {
    code: "REDIS_REFUSED",
    says: /NOREPLICAS.*Start replicas/,
    begin: config("min-replicas-to-write", "1"),
    end: config("min-replicas-to-write", "0"),
  },
  "LOADING, a server that reads its data": {
    code: "REDIS_REFUSED",
    says: /LOADING/,
    begin: async () => {
      const filling = system.redis.raw.pipeline();
      for (let i = 0; i < SLOW_LOAD_KEYS; i++) filling.set(`fill:${i}`, "x");
      await filling.exec();
      // 1 ms a key.
      await config("key-load-delay", "1000")();
      await config("loading-process-events-interval-bytes", "1024")();
      side.call("DEBUG", "RELOAD").catch(() => {});
      await eventually(async () => String(await rejection(system.redis.raw.get("x"))).includes("LOADING"));
    },
    end: async () => {
      await eventually(() => system.redis.raw.get("fill:0"));
      await config("key-load-delay", "0")();
    },
  },
  "NOPERM, a user without rights": {
    code: "REDIS_DENIED",
    says: /lacks a right .*make-secrets\.sh/,
    begin: () => system.redis.raw.call("ACL", "SETUSER", "default", "-@write"),
    end: () => system.redis.raw.call("ACL", "SETUSER", "default", "+@all"),
  },
  "OOM, a full server": {
    code: "REDIS_FULL",
    says: /maxmemory/,
    begin: config("maxmemory", "1"),
    end: config("maxmemory", "0"),
  },
};

const services = () => [...system.brokers, ...system.workers];
const seesRefusal = (service: Broker | Worker): boolean =>
  service.watched().more.some(({ name, ok }) => name === "redis_writes" && !ok);
const ready = (): boolean[] => services().map((service) => service.isReady);

test.each(Object.keys(REFUSALS))(
  "%s: the put ends with its name, neutral covers it, services are not ready; then all goes on",
  async (name) => {
    const { code, says, begin, end } = REFUSALS[name]!;
    const run = await client.mount({ run_id: `strict-${code}-${name.length}`, dataflex: REWEIGHT, timeoutMs: 20_000 });
    const neutral = await client.mount({
      run_id: `neutral-${code}-${name.length}`,
      dataflex: { pipelines: { main: REWEIGHT }, on_unavailable: "neutral" },
      timeoutMs: 20_000,
    });
    await eventually(() => ready().every(Boolean), { what: "services that are ready" });
    await begin();
    try {
      const refused = await rejection(run.put(1, STAGE, { ...advantageStep(valuesOf(1)) }, { timeoutMs: 700 }));
      expect(refused).toMatchObject({ code, message: expect.stringMatching(says) });
      const covered = await neutral.put(1, STAGE, { ...advantageStep(valuesOf(1)) }, { timeoutMs: 200 });
      expect(covered.kind).toBe("UNAVAILABLE");
      const result = await neutral.weights(1, { timeoutMs: 500 });
      expect(result.neutral).toMatchObject({ code });
      if (!name.startsWith("LOADING")) {
        await eventually(() => services().every(seesRefusal), { what: "services that say so", timeoutMs: 6_000 });
        expect(ready()).toEqual([false, false]);
      }
      // Time heals most of them: a put that may wait for it gets through. Others may free memory, too, but here is nobody else.
      if (code === "REDIS_REFUSED") {
        const waiting = run.put(2, STAGE, { ...advantageStep(valuesOf(2)) }, { timeoutMs: 30_000 });
        await end();
        expect((await waiting).kind).toBe("NEW");
      } else await end();
    } catch (error) {
      await end();
      throw error;
    }
    await eventually(() => ready().every(Boolean), { what: "services that are ready again" });
    for (const step of [1, 2]) {
      await run.put(step, STAGE, { ...advantageStep(valuesOf(step)) });
      const [p] = (await run.weights(step, { timeoutMs: 20_000 })).pipelines;
      expect(worst(p!.weights, softmaxWeights(valuesOf(step)))).toBeLessThan(1e-5);
      await run.release(step);
    }
    await run.close();
    await neutral.close();
  },
  LIMIT_MS,
);
