import { spawn } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { startPrivateRedis } from "dataflex-mq/server";
import { expect, test } from "vitest";
import { eventually, rejection } from "../helpers/eventually.js";
import { dead, Fleet } from "../helpers/processes.js";
import { startTestRedis } from "../helpers/redis.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const fleet = new Fleet();

/** A parent that owns a private Redis, a broker and a worker, says who they are, and then sits there. */
const PARENT = `
import { startPrivateRedis, startServices } from "dataflex-mq/server";
const redis = await startPrivateRedis();
const services = await startServices({ redisUrl: redis.url, workers: 1 });
process.stdout.write(JSON.stringify({ url: redis.url, pids: [redis.pid, ...services.processes.map((p) => p.pid)] }) + "\\n");
setInterval(() => {}, 1_000);
`;

test.each(["SIGKILL", "SIGTERM"] as const)(
  "Redis and services end with a parent that ended by %s, and their folder with them",
  async (signal) => {
    const parent = spawn(process.execPath, ["--input-type=module", "-e", PARENT], {
      cwd: ROOT,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const line = await new Promise<string>((resolve, reject) => {
      let text = "";
      parent.stdout.on("data", (data) => {
        text += data;
        if (text.includes("\n")) resolve(text);
      });
      parent.once("exit", () => reject(new Error("the parent ended early")));
    });
    const { url, pids } = JSON.parse(line) as { url: string; pids: number[] };
    expect(pids).toHaveLength(3);
    expect(dead(pids)).toBe(false);
    parent.kill(signal);
    await eventually(() => dead(pids), { what: "the end of Redis, broker and worker", timeoutMs: 15_000 });
    const socket = url.slice("unix://".length);
    await eventually(() => !existsSync(socket.replace(/\/[^/]+$/, "")), { what: "the end of the socket's folder" });
  },
  120_000,
);

test("a private Redis is nobody else's: a folder of mode 0700, no TCP port, noeviction, nothing saved", async () => {
  const redis = await startTestRedis();
  const socket = redis.url.slice("unix://".length);
  expect(statSync(socket.replace(/\/[^/]+$/, "")).mode & 0o777).toBe(0o700);
  const config = async (name: string): Promise<string> => ((await redis.raw.config("GET", name)) as string[])[1] ?? "";
  expect([await config("port"), await config("maxmemory-policy"), await config("save")]).toEqual([
    "0",
    "noeviction",
    "",
  ]);
  await redis.stop();
  await redis.stop();
  expect(dead([redis.pid])).toBe(true);
  expect(existsSync(socket)).toBe(false);
});

test("a private Redis that answers nobody, or will not end when asked, is ended all the same", async () => {
  const frozen = await startPrivateRedis();
  process.kill(frozen.pid, "SIGSTOP");
  await frozen.stop();
  expect(dead([frozen.pid])).toBe(true);

  const writing = await startTestRedis();
  // While it writes its first append-only file, Redis refuses SIGTERM.
  const value = "x".repeat(1 << 20);
  for (let i = 0; i < 64; i++) await writing.raw.set(`key-${i}`, value);
  await writing.raw.config("SET", "rdb-key-save-delay", "100000");
  await writing.raw.config("SET", "appendonly", "yes");
  await writing.stop();
  expect(dead([writing.pid])).toBe(true);
  expect(existsSync(writing.url.slice("unix://".length))).toBe(false);
});

test("a server that cannot start is an error that says so, and leaves nothing", async () => {
  const started = performance.now();
  const error = await rejection(startPrivateRedis(["--no-such-option", "1"]));
  expect(error).toMatchObject({ code: "REDIS_UNREACHABLE", message: expect.stringContaining("--no-such-option") });
  expect(performance.now() - started).toBeLessThan(5_000);
});

test("a service told to stop ends with 0, also in the middle of its work, and a worker's Redis may be gone already", async () => {
  const redis = await startPrivateRedis();
  const broker = await fleet.spawn("broker", redis.url);
  const worker = await fleet.worker(redis.url);
  await broker.stop();
  expect(broker.child.exitCode).toBe(0);
  await redis.stop();
  const started = performance.now();
  await worker.stop();
  expect(performance.now() - started).toBeLessThan(10_000);
  expect(worker.child.signalCode).toBeNull();
}, 120_000);
