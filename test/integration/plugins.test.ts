import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Run } from "dataflex-mq";
import { describe, expect, test } from "vitest";
import { advantageStep, REWEIGHT, softmaxWeights, valuesOf, worst } from "../helpers/batches.js";
import { CLI, dataflexMq } from "../helpers/cli.js";
import { eventually, rejection } from "../helpers/eventually.js";
import { useSystem } from "../helpers/system.js";

const plugin = (file: string): string => fileURLToPath(new URL(`../helpers/plugins/${file}`, import.meta.url));
const STAGE = "post_advantage";

describe("a plugin that cannot be loaded ends its worker with exit code 2 and its name", () => {
  test.each([
    ["broken/throws-at-import.ts", "raised Error: no such model file (throws-at-import.ts, line 3) at import"],
    ["broken/exports-nothing.ts", "exports no component"],
    ["broken/plain-object.ts", "exports the scorer 'mine' as a plain object: make it with defineScorer"],
    ["broken/name-of-a-built-in.ts", "defines the reweighter 'softmax', which a built-in defines already"],
    ["broken/one-name-twice.ts", "defines the scorer 'twin', which itself defines already"],
    ["broken/there-is-none.ts", "cannot be found"],
  ])("%s", async (file, reason) => {
    const { code, out, err } = await dataflexMq(["worker", "--redis", "redis://127.0.0.1:1", "--plugin", plugin(file)]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(`error[PLUGIN] plugin "${plugin(file)}"`);
    expect(err).toContain(reason);
  });

  test("two plugins with one name", async () => {
    const args = [plugin("rival.ts"), plugin("scorers.ts")].flatMap((file) => ["--plugin", file]);
    const { code, err } = await dataflexMq(["worker", "--redis", "redis://127.0.0.1:1", ...args]);
    expect(code).toBe(2);
    expect(err).toContain(`defines the scorer 'slow', which plugin "${plugin("rival.ts")}" defines already`);
  });
});

describe("a component that misbehaves harms its own step at most", () => {
  // One worker with one slot: whatever a step does to its thread, the next step meets the same worker.
  const system = useSystem({
    workers: [{ plugins: [plugin("mischief.ts"), plugin("scorers.ts")], computeLimitMs: 4_000 }],
  });
  const scoredBy = (name: string, params: object) => ({ ...REWEIGHT, scorer: { name, params } });
  const mischief = (how: string) => scoredBy("mischief", { how });

  /** Step 13 of the run, and right after it another run's step; then the run's next step. */
  async function onThirteen(run: Run): Promise<{ thirteen: Promise<number[]>; others: () => Promise<void> }> {
    const sound = await system.mount();
    await run.put(13, STAGE, { ...advantageStep(valuesOf(13)) });
    await sound.put(1, STAGE, { ...advantageStep(valuesOf(1)) });
    const thirteen = weightsOf(run, 13);
    thirteen.catch(() => {});
    const others = async (): Promise<void> => {
      expect(worst(await weightsOf(sound, 1), softmaxWeights(valuesOf(1)))).toBeLessThan(1e-5);
      await run.put(14, STAGE, { ...advantageStep(valuesOf(14)) });
      expect(worst(await weightsOf(run, 14), softmaxWeights(valuesOf(14)))).toBeLessThan(1e-5);
      expect(system.workers[0]!.isReady).toBe(true);
    };
    return { thirteen, others };
  }
  const weightsOf = async (run: Run, step: number): Promise<number[]> => [
    ...(await run.weights(step, { timeoutMs: 30_000 })).pipelines[0]!.weights,
  ];

  test.each([
    [
      "throws",
      scoredBy("unlucky", { how: "throw" }),
      "COMPONENT",
      "scorer 'unlucky' raised Error: thirteen (scorers.ts, line ",
    ],
    ["gives too few scores", scoredBy("unlucky", { how: "short" }), "COMPONENT", "scorer 'unlucky'"],
    ["gives a matrix of scores", mischief("matrix"), "COMPONENT", "scorer 'mischief'"],
    ["gives a string", mischief("text"), "COMPONENT", "scorer 'mischief'"],
    ["gives NaN", scoredBy("unlucky", { how: "nan" }), "NON_FINITE", "score of 'unlucky'"],
    ["gives infinity", mischief("infinite"), "NON_FINITE", "score of 'mischief'"],
    ["never returns", scoredBy("unlucky", { how: "never" }), "COMPUTE_TIMEOUT", 'scorer "unlucky"'],
    ["never lets go of its thread", scoredBy("unlucky", { how: "endless" }), "COMPUTE_TIMEOUT", 'scorer "unlucky"'],
    ["exits", scoredBy("unlucky", { how: "exit" }), "COMPUTE_LOST", 'scorer "unlucky", actuator "softmax" (exit 3)'],
    [
      "throws later",
      scoredBy("unlucky", { how: "late-throw" }),
      "COMPUTE_LOST",
      "(it raised Error: thirteen, later (scorers.ts, line ",
    ],
    [
      "leaves a rejection",
      mischief("reject-meanwhile"),
      "COMPUTE_LOST",
      "(it raised Error: thirteen, rejected meanwhile (mischief.ts, line ",
    ],
    ["adds to Object.prototype", mischief("pollute"), "COMPONENT", "changes Object.prototype.polluted"],
    ["replaces a method of all arrays", mischief("replace"), "COMPONENT", "changes Array.prototype.map"],
    [
      "adds to Array.prototype and throws",
      mischief("pollute-and-throw"),
      "COMPONENT",
      "changes Array.prototype.polluted",
    ],
    [
      "throws a message of 100 MiB",
      mischief("long-message"),
      "COMPONENT",
      "scorer 'mischief' raised Error: thirteen xxx",
    ],
  ])("%s: a typed failure that names it", async (_what, dataflex, code, text) => {
    const { thirteen, others } = await onThirteen(await system.mount(dataflex));
    const error = await rejection(thirteen);
    expect(error).toMatchObject({ code, message: expect.stringContaining(text) });
    expect(error.message).toContain('pipeline "main"');
    await others();
  });

  test("a message of 100 MiB reaches nobody whole", async () => {
    const { thirteen, others } = await onThirteen(await system.mount(mischief("long-message")));
    expect((await rejection(thirteen)).message.length).toBeLessThan(10_000);
    await others();
  });

  test.each(["long-warnings", "flood"])(
    "says far too much (%s): its weights count, and are as small as others'",
    async (how) => {
      const run = await system.mount(mischief(how));
      const { thirteen, others } = await onThirteen(run);
      expect(worst(await thirteen, softmaxWeights(valuesOf(13)))).toBeLessThan(1e-5);
      const [p] = (await run.weights(13)).pipelines;
      expect(JSON.stringify([p!.warnings, p!.metrics]).length).toBeLessThan(1 << 20);
      await others();
    },
  );

  test("gives a weight below 0: a typed failure that names component and row", async () => {
    const run = await system.mount({ ...REWEIGHT, actuator: { name: "negative" } });
    await run.put(13, STAGE, { ...advantageStep([0.5, 3]) });
    expect(await rejection(weightsOf(run, 13))).toMatchObject({
      code: "COMPONENT",
      message: expect.stringMatching(/reweighter 'negative'.*row 0/),
    });
    await run.put(14, STAGE, { ...advantageStep([3, 3]) });
    expect(await weightsOf(run, 14)).toEqual([1, 1]);
  });

  test.each(["throw-after", "reject-after", "exit-after"])(
    "ends its thread after it has returned (%s): its weights count, and a new thread takes the next",
    async (how) => {
      const { thirteen, others } = await onThirteen(await system.mount(mischief(how)));
      expect(worst(await thirteen, softmaxWeights(valuesOf(13)))).toBeLessThan(1e-5);
      await others();
    },
  );

  test("leaves tensors behind: they are disposed, and the result warns of it by name", async () => {
    const run = await system.mount(mischief("leak"));
    const { thirteen, others } = await onThirteen(run);
    expect(worst(await thirteen, softmaxWeights(valuesOf(13)))).toBeLessThan(1e-5);
    const [p] = (await run.weights(13)).pipelines;
    expect(p!.warnings.join()).toContain("scorer 'mischief' left tensors behind");
    expect(p!.metrics).toMatchObject({ leaked_tensors: 1 });
    await others();
    expect(system.workers[0]!.tensors.count).toBe(0);
  });

  test("writes over what it was given: no other pipeline and no later step sees it", async () => {
    const run = await system.mount({ pipelines: { mutating: mischief("mutate"), sound: REWEIGHT } });
    await run.put(13, STAGE, { ...advantageStep(valuesOf(13)) });
    await run.put(14, STAGE, { ...advantageStep(valuesOf(14)) });
    for (const step of [13, 14]) {
      const { pipelines } = await run.weights(step, { timeoutMs: 30_000 });
      const sound = pipelines.find(({ name }) => name === "sound")!;
      expect(worst(sound.weights, softmaxWeights(valuesOf(step)))).toBeLessThan(1e-5);
      if (step === 14) for (const p of pipelines) expect(worst(p.weights, sound.weights)).toBeLessThan(1e-6);
    }
  });
});

describe("what a plugin prints", () => {
  const system = useSystem({ workers: [] });

  test("at its import or as it scores goes to stderr: stdout holds the answer of --json and nothing else", async () => {
    const args = ["worker", "--json", "--redis", system.redis.url, "--http", "127.0.0.1:0"];
    const child = spawn(process.execPath, [CLI, ...args, "--plugin", plugin("mischief.ts")], { stdio: "pipe" });
    const said = { out: "", err: "" };
    child.stdout.on("data", (text) => (said.out += text));
    child.stderr.on("data", (text) => (said.err += text));
    const gone = new Promise((resolve) => child.once("close", resolve));
    try {
      await eventually(() => said.out.includes("\n"), { what: "the worker", timeoutMs: 30_000 });
      const run = await system.mount({ ...REWEIGHT, scorer: { name: "mischief", params: { how: "print" } } });
      await run.put(13, STAGE, { ...advantageStep(valuesOf(13)) });
      const [p] = (await run.weights(13, { timeoutMs: 30_000 })).pipelines;
      expect(worst(p!.weights, softmaxWeights(valuesOf(13)))).toBeLessThan(1e-5);
      await eventually(() => said.err.includes("thirteen, written"), { what: "what the scorer prints, on stderr" });
    } finally {
      child.kill("SIGTERM");
      await gone;
    }
    expect(JSON.parse(said.out)).toMatchObject([{ role: "worker" }]);
    for (const text of ["mischief is imported", "thirteen, printed"]) expect(said.err).toContain(text);
  });
});
