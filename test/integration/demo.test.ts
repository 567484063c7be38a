import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkDemo } from "../../scripts/check-demo.js";
import { CLI, dataflexMq } from "../helpers/cli.js";
import { isAlive } from "../helpers/fleet.js";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "dfx-demo-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([1, 2, 3])("seed %i: every weight is what the tensors say, and it learns", async (seed) => {
  const { code, out, err } = await dataflexMq(["demo", "--seed", String(seed), "--json"]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(checkDemo(out)).toEqual([]);
});

test("for people: a line a step, both runs side by side, nothing left behind", async () => {
  const private_ = mkdtempSync(join(folder, "tmp-"));
  const started = performance.now();
  const { code, out } = await dataflexMq(["demo", "--steps", "4"], { env: { TMPDIR: private_ } });
  expect(code).toBe(0);
  expect(out.match(/^ +[1-4] {2}/gm)).toHaveLength(4);
  expect(out).toMatch(/with weights[\s\S]*without \(same seed\)/);
  expect(out).not.toContain("\r");
  expect(readdirSync(private_)).toEqual([]);
  expect(performance.now() - started).toBeLessThan(60_000);
});

test("a block of one's own; its workers are gone afterwards", async () => {
  const config = join(folder, "config.yaml");
  writeFileSync(
    config,
    "dataflex: {mechanism: reweight, scorer: {name: token_prob}, actuator: {name: advantage_reweight}}\n",
  );
  const { code, out } = await dataflexMq(["demo", "--steps", "2", "--config", config, "--json"]);
  expect(code).toBe(0);
  const lines = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines.map((line) => line.kind)).toEqual(["start", "step", "step", "summary"]);
  expect(Object.keys(lines[1].posted)).toEqual(["post_advantage"]);
  for (const { producer } of lines[1].received) expect(isAlive(producer.pid)).toBe(false);
});

test.each(["SIGINT", "SIGKILL"] as const)("%s in the middle leaves no process and no socket", async (signal) => {
  const private_ = mkdtempSync(join(folder, "tmp-"));
  const { DFX_REDIS_URL: _, REDIS_URL: __, ...env } = process.env;
  const child = spawn(process.execPath, [CLI, "demo", "--steps", "5000", "--json"], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...env, TMPDIR: private_ },
  });
  const gone = once(child, "exit");
  const pids = new Set<number>();
  for await (const text of createInterface(child.stdout)) {
    const line = JSON.parse(text);
    if (line.kind === "step") for (const { producer } of line.received) pids.add(producer.pid);
    if (pids.size > 0) break;
  }
  child.kill(signal);
  expect(await gone).toEqual(signal === "SIGINT" ? [130, null] : [null, "SIGKILL"]);
  await expect.poll(() => readdirSync(private_), { timeout: 15_000 }).toEqual([]);
  await expect.poll(() => [...pids].filter(isAlive), { timeout: 15_000 }).toEqual([]);
});

test("wrong options and configurations exit 2 and say what is wrong", async () => {
  const config = join(folder, "wrong.yaml");
  writeFileSync(config, "dataflex:\n  mechanism: reweight\n  scorer: {name: ref_kl_}\n  actuator: {name: softmax}\n");
  for (const [args, message] of [
    [["--steps", "0"], /whole number from 1/],
    [["--seed", "x"], /whole number from 0/],
    [["--config", config], /wrong\.yaml:3.*ref_kl_/s],
  ] as const) {
    const { code, out, err } = await dataflexMq(["demo", ...args, "--json"]);
    expect(code).toBe(2);
    expect(out).toBe("");
    expect(err).toMatch(message);
  }
});
