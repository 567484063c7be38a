import { expect, test } from "vitest";
import { nodeFinding } from "../../src/commands/cli/doctor-machine.js";
import type { Io } from "../../src/commands/cli/io.js";
import { runCli } from "../../src/commands/cli/program.js";
import type { Check } from "../../src/redis/finding.js";
import { brokerPresence } from "../../src/redis/presence.js";
import { eventually } from "../helpers/eventually.js";
import { freePort } from "../helpers/ports.js";
import { startTestRedis } from "../helpers/redis.js";

async function doctor(url: string) {
  let out = "";
  const io: Io = { out: (t) => (out += t), err: () => {}, env: {}, fancy: false, clear: () => {} };
  const code = await runCli(["doctor", "--json", "--redis", url], io);
  const { redis } = JSON.parse(out) as { redis: Check[] };
  return { code, redis, bad: redis.filter((f) => f.level === "critical" || f.level === "warning") };
}

test("every setting that is wrong has a line that fixes it: typed in, nothing of it is left", async () => {
  const wrong = {
    maxmemory: "0",
    "maxmemory-policy": "allkeys-lru",
    appendonly: "no",
    timeout: "60",
    "tcp-keepalive": "0",
    maxclients: "500",
    "client-output-buffer-limit": "normal 1mb 1mb 60",
    "proto-max-bulk-len": "1mb",
  };
  const options = Object.entries(wrong).flatMap(([name, value]) => [`--${name}`, ...value.split(" ")]);
  await using redis = await startTestRedis(options);
  const { code, bad } = await doctor(redis.url);
  expect(code).toBe(1);
  const settings = bad.filter((f) => !["brokers", "workers"].includes(f.name));
  expect(settings.map((f) => f.name).sort()).toEqual(Object.keys(wrong).sort());
  for (const { fix } of settings) {
    const [, name = "", value = ""] = /^redis-cli CONFIG SET (\S+) "?([^"]*?)"? {3}\(and in redis.conf\)$/.exec(
      fix ?? "",
    )!;
    await redis.raw.config("SET", name, value);
  }
  expect((await doctor(redis.url)).bad.map((f) => f.name)).toEqual(["brokers", "workers"]);
  // A server that writes its first append-only file refuses to end.
  await eventually(async () => /aof_rewrite_in_progress:0/.test(await redis.raw.info("persistence")));
});

test("a disk write a command, and a nearly full memory", async () => {
  await using redis = await startTestRedis(["--appendonly", "yes", "--appendfsync", "always"]);
  await redis.raw.config("SET", "maxmemory", String(Math.floor((await redis.usedBytes()) * 1.1)));
  const { bad } = await doctor(redis.url);
  const found = bad.flatMap(({ name, fix }) => (/^(appendfsync|memory)$/.test(name) ? [fix] : []));
  expect(found.sort()).toEqual([
    "redis-cli CONFIG SET appendfsync everysec   (and in redis.conf)",
    "redis-cli CONFIG SET maxmemory 1gb   (and in redis.conf)",
  ]);
});

test("a replica names its master, and a cluster what to use instead", async () => {
  const port = await freePort();
  await using _master = await startTestRedis(["--port", String(port), "--bind", "127.0.0.1"]);
  await using replica = await startTestRedis(["--replicaof", "127.0.0.1", String(port)]);
  const role = (await doctor(replica.url)).bad.find((f) => f.name === "role");
  expect(role).toMatchObject({ level: "critical", fix: `--redis redis://127.0.0.1:${port}` });

  await using node = await startTestRedis(["--port", String(await freePort()), "--cluster-enabled", "yes"]);
  const { code, bad } = await doctor(node.url);
  expect([code, bad.find((f) => f.name === "cluster")?.fix]).toEqual([1, expect.stringContaining("single server")]);
});

test("services of another version, each with its host and the line that makes it this one", async () => {
  await using redis = await startTestRedis();
  const beat = { pid: 1, host: "gpu-7", version: "0.0.9", protocol: [1], http: undefined, started: 0 };
  await brokerPresence.beat(redis.raw, { ...beat, id: "0123456789" });
  const { code, bad } = await doctor(redis.url);
  const found = bad.find((f) => f.name === "versions");
  expect(found?.text).toMatch(/^broker 01234567 on gpu-7 runs 0\.0\.9, this command is /);
  expect(found?.fix).toMatch(/^npm install dataflex-mq@\S+ +on gpu-7, and restart it$/);
  // Worth a warning, and nothing is broken.
  expect(code).toBe(0);
});

test("an old Node is wrong", () => {
  expect(nodeFinding("18.20.4")).toMatchObject({ level: "critical", fix: "install Node 20.19 or newer" });
  expect(nodeFinding("20.18.0").level).toBe("critical");
  for (const version of ["20.19.0", "22.1.0"]) expect(nodeFinding(version).level).toBe("ok");
});
