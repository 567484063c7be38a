import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "dataflex-mq/server";
import { expect, onTestFinished, test } from "vitest";
import { advantageStep, REWEIGHT, softmaxWeights, valuesOf, worst } from "../helpers/batches.js";
import { CLI } from "../helpers/cli.js";
import { eventually, rejection } from "../helpers/eventually.js";
import { dead } from "../helpers/processes.js";
import { useSystem } from "../helpers/system.js";

const system = useSystem({ workers: [] });
const STAGE = "post_advantage";
const mine = { ...REWEIGHT, scorer: { name: "mine" } };

/** A scorer of |advantage|, with statements of one's own before it returns. */
const scoring = (...statements: string[]): string => `
import os, time
from dataflex_mq.components import scorer

@scorer(requires=["advantages"], arrays="numpy")
def mine(batch, ctx):
    scores = abs(batch.jagged("advantages").mean())
${statements.map((line) => `    ${line}\n`).join("")}    return scores
`;

function plugin(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "dfx-plugin-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "mine.py"), text);
  return join(folder, "mine.py");
}

async function start(file: string, slots = 1): Promise<Worker> {
  const worker = await new Worker({ redisUrl: system.redis.url, plugins: [file], slots }).start();
  onTestFinished(() => worker.stop());
  return worker;
}

/** `dataflex-mq worker`, in a process of its own. */
async function serve(file: string, flags: readonly string[] = [], env: NodeJS.ProcessEnv = {}) {
  const args = [CLI, "worker", "--redis", system.redis.url, "--plugin", file, "--http", "127.0.0.1:0", ...flags];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } });
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGTERM");
    await once(child, "exit");
  });
  let said = "";
  child.stderr.on("data", (text: Buffer) => {
    said += text;
  });
  await once(child.stdout, "data");
  return { child, said: () => said };
}

type Run = Awaited<ReturnType<typeof system.mount>>;
const put = (run: Run, step: number) => run.put(step, STAGE, { ...advantageStep(valuesOf(step)) });
const pipelineOf = async (run: Run, step: number) => (await run.weights(step, { timeoutMs: 40_000 })).pipelines[0]!;
async function score(run: Run, step: number): Promise<number[]> {
  await put(run, step);
  return [...(await pipelineOf(run, step)).weights];
}
const wanted = (step: number): number[] => softmaxWeights(valuesOf(step));

/** Process ids of a process's Python. */
function childrenOf({ pid }: ChildProcess): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
}

test("a worker that is killed while Python computes: the process ends with it, the step is another worker's", async () => {
  // A name of its own: the heartbeat of a killed worker lives on for a while.
  const file = plugin(scoring(`if os.environ.get("SLOW"): time.sleep(3600)`).replace("mine", "killed"));
  const { child } = await serve(file, [], { SLOW: "1" });
  const pids = childrenOf(child);
  expect(pids.length).toBeGreaterThan(0);
  const run = await system.mount({ ...REWEIGHT, scorer: { name: "killed" } });
  await put(run, 1);
  await eventually(async () => (await system.redis.keys("dfx2:{q}:*:lock")).length > 0, { what: "a job at work" });
  child.kill("SIGKILL");
  await once(child, "exit");
  await start(file);
  await eventually(() => dead(pids), { what: "the end of the Python process", timeoutMs: 5_000 });
  expect(worst([...(await pipelineOf(run, 1)).weights], wanted(1))).toBeLessThan(1e-5);
});

test("a worker whose Python process cannot start takes no job that needs it, and says why", async () => {
  const text = scoring(`if ctx.step == 13: os._exit(1)`);
  const file = plugin(text);
  const worker = await start(file);
  const run = await system.mount(mine);
  expect(worst(await score(run, 1), wanted(1))).toBeLessThan(1e-5);
  writeFileSync(file, `${text}# changed\n`);
  await put(run, 13);
  await eventually(() => worker.python?.slots[0]?.up === false, { what: "the end of the process" });
  const other = await rejection(run.weights(13, { timeoutMs: 8_000 }));
  expect(other).toMatchObject({ code: "TIMEOUT" });
  expect(other.message).toMatch(
    /no worker for pipeline "main" is ready: the Python process of slot 0 \(.*text has changed/s,
  );
  expect(worker.isReady).toBe(false);
  // What needs no Python is scored all the same; what does, by another worker with the same text, at its first attempt.
  expect(worst(await score(await system.mount(), 1), wanted(1))).toBeLessThan(1e-5);
  const sound = await start(plugin(text));
  for (let step = 2; step < 8; step++) {
    await put(run, step);
    const pipeline = await pipelineOf(run, step);
    expect(worst([...pipeline.weights], wanted(step))).toBeLessThan(1e-5);
  }
  expect(sound.isReady).toBe(true);
});

test("of a worker's slots those without a process take what needs none", async () => {
  const text = scoring(`if ctx.step == 13: os._exit(1)`);
  const file = plugin(text);
  const worker = await start(file, 2);
  const run = await system.mount(mine);
  writeFileSync(file, `${text}# changed\n`);
  await put(run, 13);
  await eventually(() => worker.python?.slots.filter(({ up }) => !up).length === 1, { what: "the end of one process" });
  // The step that ended it ends the other as well, where it is tried again.
  const builtin = await system.mount();
  for (let step = 1; step < 6; step++) expect(worst(await score(builtin, step), wanted(step))).toBeLessThan(1e-5);
});

test("--watch: a saved file is served at once, one with a syntax error is not, older runs are told to mount again", async () => {
  const file = plugin(scoring());
  const { said } = await serve(file, ["--watch"]);
  const before = await system.mount(mine);
  expect(worst(await score(before, 1), wanted(1))).toBeLessThan(1e-5);

  writeFileSync(file, "def broken(:\n");
  await eventually(() => said().includes("the text before stays"), { what: "the report", timeoutMs: 20_000 });
  expect(said()).toContain("raised SyntaxError");
  expect(said()).toContain("mine.py, line 1");
  expect(worst(await score(before, 2), wanted(2))).toBeLessThan(1e-5);

  writeFileSync(file, scoring("scores = 2 * scores"));
  await eventually(() => said().includes("were loaded again"), { what: "the reload", timeoutMs: 20_000 });
  const after = await system.mount(mine);
  const doubled = softmaxWeights(valuesOf(3).map((value) => 2 * value));
  expect(worst(await score(after, 3), doubled)).toBeLessThan(1e-5);
  const refused = await rejection(score(before, 3));
  expect(refused).toMatchObject({ code: "PLUGIN" });
  expect(refused.message).toContain("mount the run again");
});
