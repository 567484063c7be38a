import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { Client } from "dataflex-mq";
import { expect, test } from "vitest";
import { REWEIGHT } from "../helpers/batches.js";
import { CLI } from "../helpers/cli.js";
import { eventually, rejection } from "../helpers/eventually.js";
import { freePort } from "../helpers/ports.js";
import { startTestRedis } from "../helpers/redis.js";
import { scratchFile } from "../helpers/scratch.js";

/** Passwords are in no list of processes and in no output. */

const PASSWORD = "s3cret-of-redis";
const TOKEN = "t0ken-of-the-page";
const STEP = JSON.stringify({ step: 1, fields: { advantages: [[1, 2]], response_mask: [[1, 1]] } });
const BLOCK = "dataflex: {mechanism: reweight, actuator: {name: softmax}, scorer: {name: advantage_magnitude}}\n";

/** Command lines of all processes that show the text. */
function shownIn(text: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .flatMap((pid) => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")];
      } catch {
        return [];
      }
    })
    .filter((line) => line.includes(text));
}

interface Started {
  readonly all: () => string;
  readonly ended: Promise<number | null>;
  stop(): void;
}
function start(args: readonly string[], env: NodeJS.ProcessEnv): Started {
  const { DFX_REDIS_URL: _, REDIS_URL: __, ...own } = process.env;
  const child = spawn(process.execPath, [CLI, ...args], { env: { ...own, DFX_LOG: "info", ...env } });
  let all = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (all += chunk));
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  return { all: () => all, ended, stop: () => void child.kill("SIGINT") };
}

async function withPassword(body: (url: string) => Promise<void>): Promise<void> {
  const port = await freePort();
  await using redis = await startTestRedis(["--port", String(port)]);
  await redis.raw.config("SET", "requirepass", PASSWORD);
  await body(`redis://:${PASSWORD}@127.0.0.1:${port}`);
  await redis.raw.config("SET", "requirepass", "");
}

test.each([["all"], ["demo", "--steps", "2"], ["replay"]])(
  "%s hands the address on by the environment, and shows no password",
  async (command, ...more) => {
    await withPassword(async (url) => {
      const files = [await scratchFile("step.json", STEP), await scratchFile("dataflex.yaml", BLOCK)];
      const args = command === "replay" ? [files[0]!, "--config", files[1]!] : more;
      const found: string[] = [];
      const run = start([command, ...args], { DFX_REDIS_URL: url });
      let over = false;
      void run.ended.then(() => (over = true));
      await eventually(
        () => {
          found.push(...shownIn(PASSWORD));
          return over || run.all().includes("stop: Ctrl-C");
        },
        { timeoutMs: 60_000 },
      );
      run.stop();
      const code = await run.ended;
      expect([code, found, run.all().includes(PASSWORD)]).toEqual([0, [], false]);
      expect(run.all()).toContain(command === "replay" ? "pipeline" : ":***@127.0.0.1");
    });
  },
  120_000,
);

test("a password or token on the command line is gone from it once the command runs, and never in its output", async () => {
  await withPassword(async (url) => {
    const redis = ["--redis", url];
    const runs = [
      start(["broker", `--redis=${url}`, "--http", "127.0.0.1:0", "--token", TOKEN], {}),
      start(["worker", ...redis, "--http", "127.0.0.1:0"], {}),
      start(["broker", "--http", "127.0.0.1:0", `--token=${TOKEN}`], { DFX_REDIS_URL: url }),
    ];
    await eventually(() => runs.every((run) => run.all().includes("stop: Ctrl-C")), { timeoutMs: 60_000 });
    expect([...shownIn(PASSWORD), ...shownIn(TOKEN)]).toEqual([]);
    expect(shownIn("dataflex-mq broker --redis=redis://:***@")).toHaveLength(1);
    for (const run of runs) run.stop();
    for (const run of runs) {
      expect(await run.ended).toBe(0);
      expect(run.all()).not.toMatch(new RegExp(`${PASSWORD}|${TOKEN}`));
    }
  });
}, 120_000);

test("an address that stands where none belongs is not repeated in the complaint", async () => {
  for (const args of [
    ["broker", `--reddis=redis://me:${PASSWORD}@h`],
    ["status", "--redis", `redis://me:${PASSWORD}@h:port`],
    [`redis://${PASSWORD}@h`],
    ["check", `redis://me:${PASSWORD}@h`],
  ]) {
    const run = start(args, {});
    expect(await run.ended).toBeGreaterThan(0);
    expect(run.all()).not.toContain(PASSWORD);
    expect(run.all()).toContain("***");
  }
});

test("a password in the block's address does not travel with the mount", async () => {
  await using redis = await startTestRedis();
  const client = await Client.connect({ redisUrl: redis.url });
  const dataflex = { redis_url: `redis://me:${PASSWORD}@h`, ...REWEIGHT };
  expect((await rejection(client.mount({ run_id: "r", dataflex, timeoutMs: 200 }))).code).toBe("NO_BROKER");
  const [[, [, request]]] = (await redis.raw.xrange("dfx2:control", "-", "+")) as [[string, [string, string]]];
  expect(request).toContain("redis://me:***@h");
  expect(request).not.toContain(PASSWORD);
  await client.close();
});
