import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { CLI } from "../helpers/cli.js";
import { eventually } from "../helpers/eventually.js";
import { alive } from "../helpers/leaks.js";

test("all: a process that dies is reported with the line that replaces it; those that Ctrl-C ends are not, and none stays", async () => {
  const { DFX_REDIS_URL: _, REDIS_URL: __, ...env } = process.env;
  const child = spawn(process.execPath, [CLI, "all"], { env });
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk) => (out += chunk));
  child.stderr.on("data", (chunk) => (err += chunk));
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  try {
    await eventually(() => out.includes("stop: Ctrl-C"), { timeoutMs: 60_000 });
    const pids = [...out.matchAll(/^(broker|worker) .* pid (\d+)$/gm)].map(
      ([, role, pid]) => [role, Number(pid)] as const,
    );
    expect(pids.map(([role]) => role)).toEqual(["broker", "worker", "worker"]);
    const [, victim] = pids[2]!;
    const [, redis] = /^redis +(\S+)$/m.exec(out)!;
    process.kill(victim, "SIGKILL");
    await eventually(() => err.includes("\n"), { timeoutMs: 20_000 });
    child.kill("SIGINT");
    expect(await ended).toBe(0);
    const [line, stops, ...more] = err.trimEnd().split("\n");
    expect(line).toContain(`the worker with pid ${victim} has ended (SIGKILL)`);
    expect(line).toContain(`dataflex-mq worker --redis ${redis}`);
    expect([stops, more]).toEqual([expect.stringContaining("finishing the current jobs"), []]);
    expect(pids.filter(([, pid]) => alive(pid))).toEqual([]);
  } finally {
    child.kill("SIGKILL");
  }
}, 120_000);
