import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "dataflex-mq/server";
import { expect, onTestFinished, test } from "vitest";
import { advantageStep, REWEIGHT, softmaxWeights, valuesOf, worst } from "../helpers/batches.js";
import { CLI, dataflexMq } from "../helpers/cli.js";
import { eventually } from "../helpers/eventually.js";
import { dead } from "../helpers/processes.js";
import { useSystem } from "../helpers/system.js";

const MISCHIEF = join(import.meta.dirname, "plugins/mischief.py");
const NOWHERE = "redis://127.0.0.1:1";

function plugin(text: string, name = "mine.py"): string {
  const folder = mkdtempSync(join(tmpdir(), "dfx-plugin-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

const SOUND = `
from dataflex_mq.components import scorer
@scorer(requires=["advantages"], arrays="numpy")
def mine(batch, ctx):
    return abs(batch.jagged("advantages").mean())
`;
const ORIGINAL = "from .core.registry import register_scorer\nfrom .core.scorer import Scorer\n";

test.each([
  ["a syntax error", "def broken(:\n", "raised SyntaxError", "mine.py, line 1"],
  [
    "a missing package",
    "import no_such_package\n",
    "raised ModuleNotFoundError: No module named 'no_such_package'",
    "line 1",
  ],
  ["an exit", "import sys\nsys.exit(3)\n", "raised SystemExit", "line 2"],
  ["no component", "x = 1\n", "declares no component", ""],
  ["a name twice", SOUND + SOUND.replace("from", "\nfrom"), "scorer 'mine' is declared twice", "line 7"],
  [
    "a class without score",
    `${ORIGINAL}@register_scorer("mine")\nclass Mine(Scorer):\n    pass\n`,
    "has no method score",
    "line 3",
  ],
  ["a wrong stage", `${ORIGINAL}class Mine(Scorer):\n    timing = "after"\n`, "Mine.timing is 'after'", "line 3"],
  [
    "a default that no configuration holds",
    `${ORIGINAL}@register_scorer("mine")\nclass Mine(Scorer):\n    def __init__(self, f=print):\n        pass\n    def score(self, b, s):\n        pass\n`,
    "parameter f has the default",
    "",
  ],
  ["a process that ends", "import os\nos._exit(4)\n", "did not start (exit 4)", ""],
])("%s: the worker ends with its place", async (_what, text, reason, place) => {
  const file = plugin(text);
  const { code, out, err } = await dataflexMq(["worker", "--redis", NOWHERE, "--plugin", file]);
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).toContain("error[PLUGIN]");
  expect(err).toContain(reason);
  expect(err).toContain(place);
});

test.each([
  ["an interpreter that is not there", ["--python", "/no/such/python"], "is not there", "--python PATH"],
  ["one without the package", ["--python", "python3"], "has no package dataflex_mq", "pip install"],
  ["a GPU where there is none", ["--device", "cuda"], "device cuda was asked for", "no GPU is visible"],
  ["a device of no such kind", ["--device", "gpu"], "none of auto, cpu, cuda, cuda:N", ""],
  ["a start that takes too long", ["--python-start-ms", "1"], "was not ready within 1 ms", "--python-start-ms"],
])("%s: a typed error", async (_what, args, reason, hint) => {
  const env = { PATH: process.env.PATH, ...(args[1] === "python3" && { PYTHONPATH: "" }) };
  const { code, err } = await dataflexMq(["worker", "--redis", NOWHERE, "--plugin", plugin(SOUND), ...args], { env });
  expect(code).toBe(2);
  expect(err).toContain(reason);
  expect(err).toContain(hint);
});

test("the process ends with its worker, also when that is killed", async () => {
  const script = `
    import { startPython } from ${JSON.stringify(new URL("../../dist/src/worker/python/python-slots.js", import.meta.url).href)};
    import { silentLogger } from ${JSON.stringify(new URL("../../dist/src/log.js", import.meta.url).href)};
    const { slots } = await startPython([${JSON.stringify(MISCHIEF)}], 2, silentLogger);
    console.log(JSON.stringify(slots.map((slot) => slot.pid)));
    setInterval(() => {}, 1000);
  `;
  const parent = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(parent.stdout, "data")) as [Buffer];
  const pids = JSON.parse(line.toString()) as number[];
  expect(pids).toHaveLength(2);
  parent.kill("SIGKILL");
  await eventually(() => dead(pids), { what: "the end of the Python processes", timeoutMs: 5_000 });
});

const system = useSystem({ workers: [] });

test("a file that changes under a running worker: the restarted process is refused, the worker not ready", async () => {
  const file = plugin(
    `${SOUND}import os\n@scorer(requires=["advantages"], arrays="numpy")\ndef dies(batch, ctx):\n    os._exit(1)\n`,
  );
  const worker = await new Worker({ redisUrl: system.redis.url, plugins: [file] }).start();
  onTestFinished(() => worker.stop());
  writeFileSync(file, `${SOUND}# changed\n`);
  const run = await system.mount({ ...REWEIGHT, scorer: { name: "dies" } });
  await run.put(1, "post_advantage", { ...advantageStep(valuesOf(1)) });
  await eventually(() => worker.watched().more?.some(({ name, ok }) => name === "python" && !ok) ?? false, {
    what: "a worker that is not ready",
    timeoutMs: 10_000,
  });
  await eventually(() => !worker.isReady, { what: "a worker that is not ready", timeoutMs: 10_000 });
});

test("two workers with different texts of one name: the mount says how to choose", async () => {
  const texts = [SOUND, `${SOUND}# another\n`].map((text) => plugin(text));
  const workers = await Promise.all(
    texts.map((file) => new Worker({ redisUrl: system.redis.url, plugins: [file] }).start()),
  );
  onTestFinished(async () => void (await Promise.all(workers.map((worker) => worker.stop()))));
  await expect(system.mount({ ...REWEIGHT, scorer: { name: "mine" } })).rejects.toThrow(
    /scorer "mine" is defined differently by plugin-[0-9a-f]{12} and plugin-[0-9a-f]{12}/,
  );
});

test("the command serves a Python plugin", async () => {
  const file = plugin(SOUND);
  const child = spawn(
    process.execPath,
    [CLI, "worker", "--redis", system.redis.url, "--plugin", file, "--http", "127.0.0.1:0"],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await once(child, "exit");
  });
  await once(child.stdout, "data");
  const run = await system.mount({ ...REWEIGHT, scorer: { name: "mine" } });
  await run.put(1, "post_advantage", { ...advantageStep(valuesOf(1)) });
  const [pipeline] = (await run.weights(1, { timeoutMs: 20_000 })).pipelines;
  expect(worst(pipeline!.weights, softmaxWeights(valuesOf(1)))).toBeLessThan(1e-5);
});
