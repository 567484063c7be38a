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
import { pack, unpack } from "../../src/protocol/codec.js";
import { PROTOCOL_VERSIONS } from "../../src/protocol/messages.js";
import { encodeRun, runKeys } from "../../src/redis/keys.js";
import { advantageStep, REWEIGHT } from "../helpers/batches.js";
import { dataflexMq } from "../helpers/cli.js";
import { mixBlock, shares } from "../helpers/domains.js";
import { eventually, rejection } from "../helpers/eventually.js";
import { valueIn } from "../helpers/metrics.js";
import { freePort } from "../helpers/ports.js";

const STAGE = "post_advantage";
const CONFIG = fileURLToPath(new URL("../../config/redis/", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "dfx-acl-"));
const secrets = join(folder, "secrets");
const secret = (name: string): string => readFileSync(join(secrets, name), "utf8").trim();
type Service = Awaited<ReturnType<typeof runBroker>>;

/** Runs with users of their own: names that must be encoded, words of the key space, and one that ends in a hash. */
const RUNS = ["mine", "theirs", "exp:7 ü/*?[a]", "history", "history-rows", "x".repeat(200), "ü".repeat(40)];
const addRun = (run: string) => {
  const made = spawnSync("sh", [join(CONFIG, "make-secrets.sh"), "--run", run, secrets, `127.0.0.1:${port}`], {
    encoding: "utf8",
  });
  return [made.status, made.stderr] as const;
};
const runUser = (run: string): string => secret(`redis_run_${encodeRun(run)}`);

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
  for (const run of [...RUNS, "acl"]) addRun(run);
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

const VALUES = Array.from({ length: 40_000 }, (_, i) => i % 7);

test.each(["redis_trainer", "redis_run_acl"])(
  "the settings and users of config/redis let %s train, and nothing is refused on the way",
  async (user) => {
    await using client = await Client.connect({ redisUrl: secret(user) });
    const run = await client.mount({ run_id: "acl", dataflex: REWEIGHT, adv_estimator: "grpo", timeoutMs: 10_000 });
    for (let step = 1; step <= 3; step++) {
      await run.put(step, STAGE, { ...advantageStep([0.5, -1, 2, 0.25]) });
      expect((await run.weights(step)).pipelines[0]?.weights).toHaveLength(4);
      await run.release(step);
    }
    // Bodies in chunks, one of them another rank's.
    await using other = await Client.connect({ redisUrl: secret(user) });
    const rank = await other.attach("acl");
    const { advantages, response_mask } = advantageStep(VALUES, 8);
    for (const [from, to, by] of [
      [0, 20_000, run],
      [20_000, 40_000, rank],
    ] as const) {
      const part = { advantages: advantages.slice(from, to), response_mask: response_mask.slice(from, to) };
      await by.put(4, STAGE, part, { rows: [from, to], total_rows: VALUES.length });
    }
    expect((await rank.weights(4)).pipelines[0]?.weights).toHaveLength(VALUES.length);
    // A step that times out asks Redis what it lacks, and settles the step itself.
    expect((await rejection(run.weights(9, { timeoutMs: 300 }))).code).toBe("TIMEOUT");
    // Redis loses the mount; the trainer puts it back.
    await admin.del(runKeys("acl").mount);
    await eventually(() => admin.exists(runKeys("acl").mount), { what: "the mount" });
    await run.close();
    const mixed = await client.mount({
      run_id: "acl",
      dataflex: mixBlock("reward_gap", {}, { floor: 0 }),
      timeoutMs: 10_000,
    });
    expect(await shares(mixed, 1, { math: [1, 0], code: [0] })).toHaveLength(2);
    await mixed.restoreMixState("main", await mixed.mixState("main"));
    await mixed.close();
    expect(await admin.acl("LOG")).toEqual([]);
  },
);

test("the broker of config/redis sees that all is well", async () => {
  const page = await eventually(async () => {
    const text = await (await fetch(`${broker.ready.http}/metrics`)).text();
    return /^dataflex_steps_total\{.*run="acl".*outcome="applied".*\} 8$/m.test(text) ? text : undefined;
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
  const users = ["redis_broker", "redis_worker", "redis_trainer", "redis_run_mine", "redis_viewer"];
  for (const user of users) {
    const redis = new Redis(secret(user), { retryStrategy: null });
    for (const [command = "", ...args] of attempts) {
      const error = await rejection(redis.call(command, ...args));
      expect([user, command, error.message]).toEqual([user, command, expect.stringMatching(/^NOPERM/)]);
      refused.push([user, command]);
    }
    redis.disconnect();
  }
  expect(refused).toHaveLength(users.length * attempts.length);
});

test("a trainer looks at queues and services, and writes neither", async () => {
  const redis = new Redis(secret("redis_trainer"), { retryStrategy: null });
  for (const key of ["dfx2:workers", "dfx2:leader", "dfx2:{q}:post_advantage.x:wait"]) {
    await redis.type(key);
    expect((await rejection(redis.del(key))).message).toMatch(/^NOPERM/);
  }
  redis.disconnect();
});

/** Of a command, and of one in a script. */
const REFUSED = /NOPERM|can't access at least one of the keys|can't run this command/;
const open = (url: string): Redis => new Redis(url, { retryStrategy: null });
const refusal = async (redis: Redis, ...[command = "", ...args]: string[]): Promise<string> =>
  redis.call(command, ...args).then(
    () => `${command} ${args[0]} was allowed`,
    (error: Error) => error.message,
  );

test("a run's user does nothing with another run's keys, whether by commands, scripts or what they leave out", async () => {
  const theirs = open(runUser("theirs"));
  const { mount, step, state, claim } = runKeys("theirs");
  const keys = step(1, "1.0");
  await theirs.hset(mount, "inc", "1");
  for (const key of [keys.status, keys.puts, state("main")]) await theirs.hset(key, "a", "1");
  const streams = [keys.put("post_advantage", "a", "b"), keys.out, keys.result("main", "t")];
  for (const key of streams) await theirs.xadd(key, "*", "b", "secret");

  const mine = open(runUser("mine"));
  const every = [mount, keys.status, keys.puts, state("main"), ...streams, claim("x"), "dfx2:{0}:history:theirs"];
  for (const key of every) {
    for (const command of [
      ["TYPE", key],
      ["DUMP", key],
      ["DEL", key],
      ["PEXPIRE", key, "1"],
      ["SET", key, "1"],
      ["HGETALL", key],
      ["XADD", key, "*", "a", "1"],
      ["XRANGE", key, "-", "+"],
      ["COPY", key, `${runKeys("mine").mount}:copy`],
      ["EVAL", "return redis.call('TYPE', KEYS[1])", "1", key],
      ["EVAL", `return redis.call('TYPE', '${key}')`, "0"],
      ["EVAL", `return redis.call('DEL', '${key}')`, "1", runKeys("mine").mount],
    ])
      expect([command, await refusal(mine, ...command)]).toEqual([command, expect.stringMatching(REFUSED)]);
  }
  // What tells the names of keys.
  for (const command of [["SCAN", "0"], ["RANDOMKEY"], ["KEYS", "*"], ["CLIENT", "TRACKING", "ON", "BCAST"]])
    expect([command, await refusal(mine, ...command)]).toEqual([command, expect.stringMatching(/^NOPERM/)]);
  mine.disconnect();
  theirs.disconnect();
});

test("a run's user appends to what is shared, reads nothing of it, and takes nothing away", async () => {
  const mine = open(runUser("mine"));
  const { announce, notices, runs, dead, errors } = runKeys("mine");
  const shared = ["dfx2:control", announce, notices];
  for (const key of shared) await mine.xadd(key, "*", "run", "mine");
  await mine.zadd(runs, 1, "mine");
  for (const key of [
    ...shared,
    runs,
    dead,
    errors,
    "dfx2:workers",
    "dfx2:worker:w",
    "dfx2:leader",
    "dfx2:{q}:x:wait",
  ]) {
    for (const command of [
      ["DEL", key],
      ["XTRIM", key, "MAXLEN", "0"],
      ["XDEL", key, "1-1"],
      ["SET", key, "1"],
      ["ZREM", key, "theirs"],
      ["EVAL", "return redis.call('DEL', KEYS[1])", "1", key],
      ["EVAL", "return redis.call('XRANGE', KEYS[1], '-', '+')", "1", key],
      ["XRANGE", key, "-", "+"],
      ["XREAD", "STREAMS", key, "0"],
    ])
      expect([command, await refusal(mine, ...command)]).toEqual([command, expect.stringMatching(REFUSED)]);
  }
  expect(await mine.zrangebyscore("dfx2:workers", "-inf", "+inf")).toHaveLength(1);
  mine.disconnect();
});

test("no run is mounted or taken over by another run's user", async () => {
  await using owner = await Client.connect({ redisUrl: runUser("theirs") });
  await admin.del(runKeys("theirs").mount);
  const run = await owner.mount({ run_id: "theirs", dataflex: REWEIGHT, adv_estimator: "grpo", timeoutMs: 10_000 });
  const mine = open(runUser("mine"));
  const request = {
    v: PROTOCOL_VERSIONS,
    kind: "mount",
    mount_id: "thief",
    run: "theirs",
    dataflex: REWEIGHT,
    takeover: true,
    deadline: Date.now() + 10_000,
  };
  await mine.xadd("dfx2:control", "*", "request", Buffer.from(pack(request)));
  const reply = await eventually(() => mine.getBuffer("dfx2:reply:thief"));
  expect(unpack(reply)).toMatchObject({
    answer: { ok: false, code: "CONFIG", message: expect.stringContaining("user") },
  });
  await run.put(1, STAGE, { ...advantageStep([1, 2]) });
  expect((await run.weights(1)).pipelines[0]?.weights).toHaveLength(2);
  await using thief = await Client.connect({ redisUrl: runUser("mine") });
  for (const asked of [
    () => thief.mount({ run_id: "theirs", dataflex: REWEIGHT, takeover: true, timeoutMs: 2_000 }),
    () => thief.attach("theirs"),
  ])
    expect((await rejection(asked())).message).toMatch(/NOPERM|permission/i);
  mine.disconnect();
});

test.each(RUNS)("the user of a run has that run's keys, whatever its name: %s", async (run) => {
  const own = open(runUser(run));
  await own.set(runKeys(run).claim("x"), "1", "PX", 1_000);
  expect(await own.get(runKeys(run).claim("x"))).toBe("1");
  own.disconnect();
  expect(addRun(run)).toEqual([2, expect.stringContaining("already")]);
});

test("a script that never ends is ended by the services, and everybody goes on", async () => {
  await admin.config("SET", "lua-time-limit", "200");
  const mine = open(runUser("mine"));
  const endless = refusal(mine, "EVAL", "while true do end", "0");
  expect(await endless).toMatch(/killed by user|Script killed/i);
  await using client = await Client.connect({ redisUrl: secret("redis_trainer") });
  const run = await client.mount({ run_id: "after", dataflex: REWEIGHT, adv_estimator: "grpo", timeoutMs: 20_000 });
  await run.put(1, STAGE, { ...advantageStep([1, 2]) });
  expect((await run.weights(1)).pipelines[0]?.weights).toHaveLength(2);
  mine.disconnect();
});

test("the viewer sees the system and changes nothing; the administrator loads users", async () => {
  const seen = await dataflexMq(["status", "--json", "--redis", secret("redis_viewer")]);
  expect([seen.code, seen.err]).toEqual([0, ""]);
  expect(JSON.parse(seen.out).overview.runs.map((r: { run: string }) => r.run)).toContain("acl");
  const viewer = open(secret("redis_viewer"));
  for (const command of [
    ["SET", "dfx2:x", "1"],
    ["DEL", "dfx2:workers"],
    ["XADD", "dfx2:control", "*", "a", "1"],
    ["EVAL", "return redis.call('DEL', KEYS[1])", "1", "dfx2:{q}:x:wait"],
    ["EVAL", "return 1", "1", "dfx2:workers"],
  ])
    expect([command, await refusal(viewer, ...command)]).toEqual([command, expect.stringMatching(REFUSED)]);
  viewer.disconnect();
  const administrator = open(secret("redis_admin"));
  expect(await administrator.acl("LOAD")).toBe("OK");
  administrator.disconnect();
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
