import { spawn } from "node:child_process";
import { Broker } from "dataflex-mq/server";
import { pino } from "pino";
import { expect, test } from "vitest";
import { withHistory } from "../../src/observe/history/history-sink.js";
import { createBrokerMetrics } from "../../src/observe/metrics/broker-recorder.js";
import { CLI } from "../helpers/cli.js";
import { eventually } from "../helpers/eventually.js";
import { alive } from "../helpers/leaks.js";
import { valueIn } from "../helpers/metrics.js";
import { specOf } from "../helpers/page-runs.js";
import { startTestRedis } from "../helpers/redis.js";
import { FakeRun } from "../helpers/watched-broker.js";

/** Longer than a lease, in which a loop that tries ten times a second fails a hundred times. */
const LIMIT_MS = 60_000;

test(
  "a broker whose Redis is gone says each thing once in ten seconds, whichever of its loops meets it",
  async () => {
    await using redis = await startTestRedis();
    const lines: string[] = [];
    const log = pino({ base: null, timestamp: false }, { write: (line: string) => void lines.push(line) });
    const broker = await new Broker({ redisUrl: redis.url, log: log as never }).start();
    try {
      const metrics = createBrokerMetrics(withHistory(broker));
      const leads = async (wanted: number): Promise<boolean> => {
        await Promise.race([metrics.refresh(), new Promise((resolve) => setTimeout(resolve, 500))]);
        return valueIn(await metrics.text(), "dataflex_broker_leader") === wanted;
      };
      await eventually(() => leads(1), { timeoutMs: 20_000 });
      lines.length = 0;
      const began = performance.now();
      process.kill(redis.pid, "SIGKILL");
      await eventually(() => !alive(redis.pid));
      // Its lease has lapsed.
      await eventually(() => leads(0), { timeoutMs: 30_000 });
      const often = Math.ceil((performance.now() - began) / 10_000);
      const texts = lines.map((line) => line.replace(/,"times":\d+/, ""));
      for (const text of texts) expect([text, texts.filter((t) => t === text).length > often]).toEqual([text, false]);
      expect(lines.join("")).toContain("reading notices failed");
    } finally {
      await broker.stop();
    }
  },
  LIMIT_MS,
);

test(
  "status --watch says when what it shows is old, goes on afterwards, and stops on the first Ctrl-C though Redis is gone",
  async () => {
    await using redis = await startTestRedis();
    const child = spawn(process.execPath, [CLI, "status", "--watch", "--redis", redis.url]);
    let [out, err] = ["", ""];
    child.stdout.on("data", (chunk) => (out += chunk));
    child.stderr.on("data", (chunk) => (err += chunk));
    const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
    try {
      await eventually(() => out.includes("no live run"), { timeoutMs: 20_000 });
      process.kill(redis.pid, "SIGSTOP");
      await eventually(() => err.includes("Redis does not answer"), { timeoutMs: 20_000 });
      process.kill(redis.pid, "SIGCONT");
      await FakeRun.mount(redis, "back", [specOf("main")]);
      await eventually(() => out.includes("back"), { timeoutMs: 20_000 });
      process.kill(redis.pid, "SIGKILL");
      await eventually(() => err.split("Redis does not answer").length === 3, { timeoutMs: 20_000 });
      child.kill("SIGINT");
      expect(await ended).toBe(0);
      expect(err).not.toContain("error");
    } finally {
      child.kill("SIGKILL");
    }
  },
  LIMIT_MS,
);
