import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "dataflex-mq";
import { runBroker, runWorker } from "dataflex-mq/server";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { advantageStep, REWEIGHT } from "../helpers/batches.js";
import { mixBlock, shares } from "../helpers/domains.js";
import { eventually, rejection } from "../helpers/eventually.js";
import { valueIn } from "../helpers/metrics.js";
import { freePort } from "../helpers/ports.js";

const CONFIG = fileURLToPath(new URL("../../config/redis/", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "dfx-acl-"));
const secrets = join(folder, "secrets");
const secret = (name: string): string => readFileSync(join(secrets, name), "utf8").trim();
type Service = Awaited<ReturnType<typeof runBroker>>;

let server: ChildProcess;
let port = 0;
let broker: Service;
let worker: Service;
/** Sees what the server refused; the services' users may not. */
let admin: Redis;

beforeAll(async () => {
  vi.stubEnv("DFX_LOG", "error");
  port = await freePort();
  const made = spawnSync("sh", [join(CONFIG, "make-secrets.sh"), secrets, `127.0.0.1:${port}`], { encoding: "utf8" });
  expect([made.status, made.stderr]).toEqual([0, ""]);
  // One more user than docker-compose.yml has, for this test's own eyes.
  const users = join(folder, "users.acl");
  copyFileSync(join(secrets, "redis_users"), users);
  spawnSync("sh", ["-c", `chmod 600 ${users} && echo 'user admin on nopass ~* &* +@all' >> ${users}`]);
  const options = ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder, "--aclfile", users];
  server = spawn("redis-server", [join(CONFIG, "redis.conf"), ...options], { stdio: ["ignore", "ignore", "inherit"] });
  admin = new Redis({ port, username: "admin", password: "any", retryStrategy: () => 50 });
  admin.on("error", () => {});
  await eventually(() => admin.ping(), { what: "a Redis with our configuration" });
  broker = await runBroker(secret("redis_broker"), { http: "127.0.0.1:0" });
  worker = await runWorker(secret("redis_worker"), { http: "127.0.0.1:0" });
});
afterAll(async () => {
  await worker?.stop();
  await broker?.stop();
  admin?.disconnect();
  const gone = once(server, "exit");
  server.kill("SIGTERM");
  await gone;
  rmSync(folder, { recursive: true, force: true });
});

test("the settings and users of config/redis let a run train, and nothing is refused on the way", async () => {
  const client = await Client.connect({ redisUrl: secret("redis_trainer") });
  const run = await client.mount({ run_id: "acl", dataflex: REWEIGHT, adv_estimator: "grpo", timeoutMs: 10_000 });
  for (let step = 1; step <= 3; step++) {
    await run.put(step, "post_advantage", { ...advantageStep([0.5, -1, 2, 0.25]) });
    expect((await run.weights(step)).pipelines[0]?.weights).toHaveLength(4);
    await run.release(step);
  }
  // A step that times out asks Redis what it lacks, and settles the step itself.
  expect((await rejection(run.weights(9, { timeoutMs: 300 }))).code).toBe("TIMEOUT");
  const mixed = await client.mount({
    run_id: "mixed",
    dataflex: mixBlock("reward_gap", {}, { floor: 0 }),
    timeoutMs: 10_000,
  });
  expect(await shares(mixed, 1, { math: [1, 0], code: [0] })).toHaveLength(2);
  await mixed.restoreMixState("main", await mixed.mixState("main"));
  await client.close();

  const page = await eventually(async () => {
    const text = await (await fetch(`${broker.ready.http}/metrics`)).text();
    return valueIn(text, "dataflex_steps_total", { run: "acl", outcome: "applied" }) === 3 ? text : undefined;
  });
  for (const check of ["maxmemory_policy", "maxmemory", "aof", "version", "acl", "tls"]) {
    expect([check, valueIn(page, "dataflex_redis_config_ok", { check })]).toEqual([check, 1]);
  }
  expect(valueIn(page, "dataflex_redis_memory_max_bytes")).toBe(2 * 1024 ** 3);
  expect(await admin.acl("LOG")).toEqual([]);
});

test("what is dangerous, and other people's keys, are refused to every user", async () => {
  const refused: [user: string, command: string][] = [];
  const attempts = [
    ["FLUSHALL"],
    ["KEYS", "*"],
    ["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"],
    ["CLIENT", "KILL", "TYPE", "normal"],
    ["SHUTDOWN"],
    ["ACL", "LIST"],
    ["GET", "others"],
    ["SET", "others", "1"],
    ["PUBLISH", "channel", "text"],
  ];
  for (const user of ["redis_broker", "redis_worker", "redis_trainer"]) {
    const redis = new Redis(secret(user), { retryStrategy: null });
    for (const [command = "", ...args] of attempts) {
      const error = await rejection(redis.call(command, ...args));
      expect([user, command, error.message]).toEqual([user, command, expect.stringMatching(/^NOPERM/)]);
      refused.push([user, command]);
    }
    redis.disconnect();
  }
  expect(refused).toHaveLength(3 * attempts.length);
});

test("a trainer looks at queues and services, and writes neither", async () => {
  const redis = new Redis(secret("redis_trainer"), { retryStrategy: null });
  for (const key of ["dfx2:workers", "dfx2:leader", "dfx2:{q}:post_advantage.x:wait"]) {
    await redis.type(key);
    expect((await rejection(redis.del(key))).message).toMatch(/^NOPERM/);
  }
  redis.disconnect();
});

test("nobody gets in without a password, and the health check's user can do nothing but ping", async () => {
  const nobody = new Redis({ port, retryStrategy: null, lazyConnect: true });
  nobody.on("error", () => {});
  await nobody.connect().catch(() => {});
  expect((await rejection(nobody.get("dfx2:workers"))).message).toMatch(/^NOAUTH|closed/);
  nobody.disconnect();
  const health = new Redis({ port, username: "health", password: "any", enableReadyCheck: false, retryStrategy: null });
  expect(await health.ping()).toBe("PONG");
  expect((await rejection(health.get("dfx2:workers"))).message).toMatch(/^NOPERM/);
  health.disconnect();
});

test("secrets that are there are not overwritten", () => {
  const again = spawnSync("sh", [join(CONFIG, "make-secrets.sh"), secrets], { encoding: "utf8" });
  expect([again.status, again.stderr]).toEqual([2, expect.stringContaining("holds secrets already")]);
});
