import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "dataflex-mq/server";
import { expect, onTestFinished, test } from "vitest";
import { worst } from "../helpers/batches.js";
import { useSystem } from "../helpers/system.js";

const FOLDER = join(import.meta.dirname, "../../examples/plugins");
const system = useSystem({ workers: [] });

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "dfx-example-"));
  onTestFinished(() => rmSync(made, { recursive: true }));
  return made;
}

async function serve(plugin: string): Promise<void> {
  const worker = await new Worker({ redisUrl: system.redis.url, plugins: [join(FOLDER, plugin)] }).start();
  onTestFinished(() => worker.stop());
}

test.each(readdirSync(FOLDER).filter((name) => /^test_.*\.py$/.test(name)))(
  "%s passes",
  (name) => {
    const args = ["-m", "pytest", "-q", "-p", "no:cacheprovider", name];
    const { status, stdout } = spawnSync(process.env.DFX_PYTHON!, args, { cwd: FOLDER, encoding: "utf8" });
    expect({ status, stdout: status === 0 ? "" : stdout }).toEqual({ status: 0, stdout: "" });
  },
  180_000,
);

test("freshness: the trainer posts one number per row, and old rows count less", async () => {
  await serve("freshness.py");
  const run = await system.mount({
    mechanism: "reweight",
    scorer: { name: "column", params: { name: "staleness" } },
    actuator: { name: "freshness", params: { half_life: 2, limit: 3 } },
    normalize: "none",
  });
  const response_mask = [
    [1, 1, 1],
    [1, 0, 0],
    [1, 1, 0],
    [1, 1, 1],
  ];
  await run.put(1, "post_reward", { staleness: Float32Array.of(0, 2, 3, 4), response_mask });
  const [pipeline] = (await run.weights(1, { timeoutMs: 30_000 })).pipelines;
  expect(worst(pipeline!.weights, [1, 0.5, 0.5 ** 1.5, 0])).toBeLessThan(1e-6);
  expect(pipeline!.metrics).toMatchObject({ too_old: 1 });
});

test("reward_model: token ids become rewards of a model of one's own", async () => {
  const own = folder();
  writeFileSync(
    join(own, "counting.py"),
    "def load(checkpoint, device):\n    return lambda ids, mask: (ids * mask).sum(-1).float()\n",
  );
  const before = process.env.PYTHONPATH;
  process.env.PYTHONPATH = `${own}:${before}`;
  onTestFinished(() => {
    process.env.PYTHONPATH = before;
  });
  await serve("reward_model.py");
  const run = await system.mount({
    mechanism: "select",
    scorer: { name: "reward_model", params: { load: "counting:load", tokens_per_batch: 4 } },
    actuator: { name: "topk_fraction", params: { fraction: 0.5 } },
  });
  const responses = [
    [1, 2, 0],
    [9, 0, 0],
    [3, 3, 3],
    [8, 1, 1],
  ];
  const response_mask = [
    [1, 1, 0],
    [1, 0, 0],
    [1, 1, 1],
    [1, 1, 1],
  ];
  const lengths = Int32Array.of(2, 1, 3, 3);
  await run.put(1, "post_reward", { responses, response_mask }, { lengths });
  const [pipeline] = (await run.weights(1, { timeoutMs: 30_000 })).pipelines;
  // Sums 3, 9, 9, 10: of the two nines the first.
  expect([...pipeline!.kept!]).toEqual([1, 3]);
});

test("diverse: embeddings of the trainer's own width decide which of equally good responses stay", async () => {
  await serve("diverse.py");
  const run = await system.mount({
    mechanism: "select",
    scorer: { name: "column", params: { name: "rm_scores", reduce: "sum" } },
    actuator: { name: "diverse", params: { fraction: 0.5, novelty: 0.5 } },
  });
  // In group a rows 0 and 1 say the same, in group b rows 5 and 7 do.
  const features = [
    [1, 0, 0],
    [1, 0, 0],
    [0, 1, 0],
    [1, 0.1, 0],
    [0, 0, 1],
    [0, 1, 0],
    [0, 0.9, 0.1],
    [0, 1, 0],
  ];
  const rm_scores = Float32Array.of(1, 1, 1, 1, 0, 1, 0, 1);
  const uid = ["a", "a", "a", "a", "b", "b", "b", "b"];
  const response_mask = uid.map(() => [1]);
  await run.put(1, "post_reward", { features, rm_scores, uid, response_mask });
  const [pipeline] = (await run.weights(1, { timeoutMs: 30_000 })).pipelines;
  expect([...pipeline!.kept!]).toEqual([0, 2, 5, 7]);
});
