import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "dataflex-mq/server";
import { pino } from "pino";
import { describe, expect, onTestFinished, test } from "vitest";
import { advantageStep, REWEIGHT, softmaxWeights, valuesOf, worst } from "../helpers/batches.js";
import { eventually, rejection } from "../helpers/eventually.js";
import { useSystem } from "../helpers/system.js";

// As built, like the workers: one package, one class of errors.
const { watchPlugins }: typeof import("../../src/commands/services/watch-plugins.js") = await import(
  new URL("../../dist/src/commands/services/watch-plugins.js", import.meta.url).href
);

const system = useSystem({ workers: [] });
const STAGE = "post_advantage";
const mine = { ...REWEIGHT, scorer: { name: "mine" } };

/** A scorer whose score is this expression. */
const scoring = (score: string): string => `
import { defineScorer, z } from "dataflex-mq";
export const mine = defineScorer({
  name: "mine", requires: ["advantages"], timing: "post_advantage", granularity: "response", params: z.strictObject({}),
  score: (batch, ctx) => ${score},
});
`;
const MAGNITUDE = `batch.field("advantages").abs().mean()`;

function plugin(text: string, name = "mine.ts"): string {
  const folder = mkdtempSync(join(tmpdir(), "dfx-plugin-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

interface Logged {
  readonly msg: string;
  readonly stack?: string;
  readonly err?: string;
  readonly code?: string;
}

async function start(file: string, options: object = {}): Promise<{ worker: Worker; logged: Logged[] }> {
  const logged: Logged[] = [];
  const log = pino({ level: "info" }, { write: (line: string) => void logged.push(JSON.parse(line)) });
  const worker = await new Worker({ redisUrl: system.redis.url, plugins: [file], log, ...options }).start();
  onTestFinished(() => worker.stop());
  return { worker, logged };
}

async function score(run: Awaited<ReturnType<typeof system.mount>>, step: number): Promise<number[]> {
  await run.put(step, STAGE, { ...advantageStep(valuesOf(step)) });
  return [...(await run.weights(step, { timeoutMs: 20_000 })).pipelines[0]!.weights];
}
const doubled = (step: number): number[] => softmaxWeights(valuesOf(step).map((value) => 2 * value));

describe("what a plugin raises", () => {
  test("reaches the trainer with type, text, file and line, and the worker's log with its stack", async () => {
    const { logged } = await start(plugin(scoring(`\n    (() => { throw new RangeError("thirteen"); })()`)));
    const error = await rejection(score(await system.mount(mine), 1));
    expect(error).toMatchObject({ code: "COMPONENT" });
    expect(error.message).toContain("scorer 'mine' raised RangeError: thirteen (mine.ts, line 6)");
    const [line] = logged.filter(({ msg }) => msg === "settled as a failure");
    expect(line?.stack).toMatch(/RangeError: thirteen\n +at .*mine\.ts:6/);
  });

  test("by asking the batch for what it has not: with the place where it asked", async () => {
    await start(plugin(scoring(`batch.field("old_log_probs").mean()`)));
    const error = await rejection(score(await system.mount(mine), 1));
    expect(error).toMatchObject({ code: "COMPONENT" });
    expect(error.message).toMatch(/old_log_probs.* \(mine\.ts, line 5\)/s);
  });

  test("that is no error at all has its type and text", async () => {
    await start(plugin(scoring(`(() => { throw "thirteen"; })()`)));
    const error = await rejection(score(await system.mount(mine), 1));
    expect(error.message).toContain("scorer 'mine' raised string: thirteen");
  });
});

test("a file that changes under a running worker: a thread that starts again is refused, another worker scores", async () => {
  const text = scoring(`{ if (ctx.step === 13 && process.argv.length > 0) for (;;); return ${MAGNITUDE}; }`);
  const file = plugin(text);
  const { worker } = await start(file, { computeLimitMs: 500 });
  const run = await system.mount(mine);
  writeFileSync(file, `${text}// changed\n`);
  // The thread that hangs is ended; the next one finds another text.
  expect(await rejection(score(run, 13))).toMatchObject({ code: "COMPUTE_TIMEOUT" });
  const late = await rejection(score(run, 1));
  expect(late.message).toContain("a plugin's text has changed since this worker started");
  expect(worker.isReady).toBe(false);
  await start(plugin(text));
  expect(worst(await score(run, 2), softmaxWeights(valuesOf(2)))).toBeLessThan(1e-5);
});

describe("a worker that watches its plugins", () => {
  async function watched(file: string): Promise<{ worker: Worker; logged: Logged[] }> {
    const started = await start(file);
    const log = pino({ level: "info" }, { write: (line: string) => void started.logged.push(JSON.parse(line)) });
    onTestFinished(watchPlugins(started.worker, [file], log));
    return started;
  }
  const said = (logged: Logged[], text: string, times = 1) =>
    eventually(() => logged.filter(({ msg }) => msg.includes(text)).length >= times, { what: text, timeoutMs: 20_000 });

  test.each(["mine.ts", "mine.js", "mine.mjs"])(
    "%s: serves what was saved, and tells older runs to mount again",
    async (name) => {
      const file = plugin(scoring(MAGNITUDE), name);
      const { worker, logged } = await watched(file);
      const before = await system.mount(mine);
      expect(worst(await score(before, 1), softmaxWeights(valuesOf(1)))).toBeLessThan(1e-5);

      writeFileSync(file, scoring(`${MAGNITUDE}.mul(2)`));
      await said(logged, "were loaded again");
      const after = await system.mount(mine);
      expect(worst(await score(after, 1), doubled(1))).toBeLessThan(1e-5);
      const refused = await rejection(score(before, 2));
      expect(refused).toMatchObject({ code: "PLUGIN" });
      expect(refused.message).toMatch(/the text of mine.* has changed since run ".*" was mounted.*mount the run again/);
      expect(worker.isReady).toBe(true);

      // Taken back, it is the first text again.
      writeFileSync(file, scoring(MAGNITUDE));
      await said(logged, "were loaded again", 2);
      expect(worst(await score(before, 3), softmaxWeights(valuesOf(3)))).toBeLessThan(1e-5);
    },
  );

  test("a text that cannot be loaded: it says so, and goes on with the one before", async () => {
    const file = plugin(scoring(MAGNITUDE));
    const { worker, logged } = await watched(file);
    const run = await system.mount(mine);
    writeFileSync(file, "export const mine = (");
    await said(logged, "the text before stays");
    expect(logged.find(({ msg }) => msg.includes("the text before stays"))).toMatchObject({ code: "PLUGIN" });
    expect(worker.isReady).toBe(true);
    expect(worst(await score(run, 1), softmaxWeights(valuesOf(1)))).toBeLessThan(1e-5);
    writeFileSync(file, scoring(`${MAGNITUDE}.mul(2)`));
    await said(logged, "were loaded again");
    expect(worst(await score(await system.mount(mine), 2), doubled(2))).toBeLessThan(1e-5);
  });

  test("leaves the jobs of the text before to a worker that has it still", async () => {
    const file = plugin(scoring(MAGNITUDE));
    const { logged } = await watched(file);
    const run = await system.mount(mine);
    await start(plugin(scoring(MAGNITUDE)));
    writeFileSync(file, scoring(`${MAGNITUDE}.mul(2)`));
    await said(logged, "were loaded again");
    for (let step = 1; step <= 6; step++) {
      expect(worst(await score(run, step), softmaxWeights(valuesOf(step)))).toBeLessThan(1e-5);
    }
  });

  test("a step that is at work while its text changes ends with the text that it began with", async () => {
    const slow = `new Promise((done) => setTimeout(done, 1_500)).then(() => ${MAGNITUDE})`;
    const file = plugin(scoring(slow));
    const { worker, logged } = await watched(file);
    const run = await system.mount(mine);
    const weights = score(run, 1);
    await eventually(() => worker.active === 1, { what: "the job at work" });
    writeFileSync(file, scoring(`${MAGNITUDE}.mul(2)`));
    await said(logged, "were loaded again");
    expect(worst(await weights, softmaxWeights(valuesOf(1)))).toBeLessThan(1e-5);
  });

  test("needs a file to watch", () => {
    const worker = { reload: () => Promise.resolve(false) };
    expect(() => watchPlugins(worker, ["some-package"], pino({ level: "silent" }))).toThrow(/--watch needs a file/);
  });
});
