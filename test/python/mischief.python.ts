import { join } from "node:path";
import { Writable } from "node:stream";
import type { Run } from "dataflex-mq";
import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { advantageStep, REWEIGHT, softmaxWeights, valuesOf, worst } from "../helpers/batches.js";
import { eventually, rejection } from "../helpers/eventually.js";
import { useSystem } from "../helpers/system.js";

const MISCHIEF = join(import.meta.dirname, "plugins/mischief.py");
const STAGE = "post_advantage";
const LIMIT_MS = 2_000;

/** What the worker logs. */
const logged: string[] = [];
const log = pino(
  { level: "info" },
  new Writable({
    write(line, _encoding, done) {
      logged.push(String(line));
      done();
    },
  }),
);

describe("a Python component that misbehaves harms its own step at most", () => {
  // One worker with one slot: whatever a step does to its process, the next step meets the same worker.
  const system = useSystem({
    workers: [{ plugins: [MISCHIEF], log, computeLimitMs: LIMIT_MS, python: { memoryMb: 4_096 } }],
  });
  const mischief = (how: string, more: object = {}) => ({
    ...REWEIGHT,
    scorer: { name: "mischief", params: { how, ...more } },
  });
  const weightsOf = async (run: Run, step: number): Promise<number[]> => [
    ...(await run.weights(step, { timeoutMs: 40_000 })).pipelines[0]!.weights,
  ];
  const put = (run: Run, step: number) => run.put(step, STAGE, { ...advantageStep(valuesOf(step)) });

  async function scoresOthers(run: Run): Promise<void> {
    const sound = await system.mount();
    await put(sound, 1);
    expect(worst(await weightsOf(sound, 1), softmaxWeights(valuesOf(1)))).toBeLessThan(1e-5);
    await put(run, 14);
    expect(worst(await weightsOf(run, 14), softmaxWeights(valuesOf(14)))).toBeLessThan(1e-5);
    await eventually(() => system.workers[0]!.isReady, { what: "a worker that is ready", timeoutMs: 10_000 });
  }

  test.each([
    ["raise", "COMPONENT", /scorer 'mischief' raised Torn: thirteen \(mischief.py, line \d+\)/],
    ["recursion", "COMPONENT", /raised RecursionError: .* \(mischief.py, line \d+\)/],
    ["exit", "COMPONENT", /raised SystemExit: thirteen \(mischief.py, line \d+\)/],
    ["none", "COMPONENT", /scorer 'mischief' returned None, expected one number a row, \(4,\)/],
    ["text", "COMPONENT", /returned a str, expected one number a row/],
    ["generator", "COMPONENT", /returned a generator/],
    ["coroutine", "COMPONENT", /returned a coroutine/],
    ["short", "COMPONENT", /returned shape \(3,\), expected one number a row: \(4,\)/],
    ["matrix", "COMPONENT", /returned shape \(2, 4\)/],
    ["nan", "NON_FINITE", /score of 'mischief' is NaN at row 1/],
    ["infinity", "NON_FINITE", /score of 'mischief' is Infinity at row 0/],
    ["loop", "COMPUTE_TIMEOUT", /scoring took longer than 2000 ms .*scorer "mischief"/],
    ["sleep", "COMPUTE_TIMEOUT", /scorer "mischief"/],
    ["native_loop", "COMPUTE_TIMEOUT", /scorer "mischief"/],
    ["memory", "OUT_OF_MEMORY", /scorer 'mischief' ran out of memory \(mischief.py, line \d+\)/],
  ])("%s: a typed failure that names it", async (how, code, text) => {
    const run = await system.mount(mischief(how));
    await put(run, 12);
    await weightsOf(run, 12);
    await put(run, 13);
    const error = await rejection(weightsOf(run, 13));
    expect(error).toMatchObject({ code });
    expect(error.message).toMatch(text);
    await scoresOthers(run);
  });

  test.each([
    ["os_exit", /ended \(exit 3\)/],
    ["segfault", /ended \(SIGSEGV\).*it last said: Fatal Python error: Segmentation fault/],
    ["abort", /ended \(SIGABRT\)/],
    ["killed", /ended \(SIGKILL, probably out of memory\)/],
    ["close", /ended/],
  ])("%s: the step is tried again, then fails by name; the process comes back", async (how, text) => {
    const run = await system.mount(mischief(how));
    await put(run, 13);
    const error = await rejection(weightsOf(run, 13));
    expect(["COMPUTE_LOST", "POISON"]).toContain(error.code);
    expect(error.message).toMatch(text);
    expect(error.message).toContain('scorer "mischief"');
    await scoresOthers(run);
  });

  test.each(["fork", "threads", "print", "sigterm"])("%s: the step is scored all the same", async (how) => {
    const run = await system.mount(mischief(how));
    await put(run, 13);
    expect(worst(await weightsOf(run, 13), softmaxWeights(valuesOf(13)))).toBeLessThan(1e-5);
    await scoresOthers(run);
  });

  test("a constructor that throws: the step's failure, with its place", async () => {
    const run = await system.mount(mischief("raise", { broken: true }));
    await put(run, 1);
    const error = await rejection(weightsOf(run, 1));
    expect(error).toMatchObject({ code: "COMPONENT" });
    expect(error.message).toMatch(/raised FileNotFoundError: no such checkpoint \(mischief.py, line \d+\)/);
  });

  test("the log has the traceback, what was printed in measure, and where a stopped process stood", async () => {
    await eventually(() => logged.some((line) => line.includes("more lines were left out")), {
      what: "the count of lines left out",
      timeoutMs: 5_000,
    });
    const all = logged.join("");
    expect(all).toContain("Traceback (most recent call last)");
    expect(all).toContain('"plugin":"mischief.py"');
    expect(all).toContain("mischief is imported");
    expect(all).toMatch(/mischief.py.*line \d+ in misbehave/);
    expect(all.length).toBeLessThan(2_000_000);
  });
});
