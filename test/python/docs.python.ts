import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Worker } from "dataflex-mq/server";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { advantageStep, softmaxWeights, valuesOf, worst } from "../helpers/batches.js";
import { useSystem } from "../helpers/system.js";

const PAGE = readFileSync(join(import.meta.dirname, "../../docs/python-components.md"), "utf8");
const blocks = (language: string): string[] =>
  [...PAGE.matchAll(new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``, "g"))].map((found) => found[1]!);

/** The page's first component, as a file. */
function loudness(): string {
  const folder = mkdtempSync(join(tmpdir(), "dfx-page-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "loudness.py");
  writeFileSync(file, blocks("python")[0]!);
  return file;
}

const system = useSystem({ workers: [] });

test("the first lines of docs/python-components.md do what they say", async () => {
  const file = loudness();
  const worker = await new Worker({ redisUrl: system.redis.url, plugins: [file] }).start();
  onTestFinished(() => worker.stop());
  const run = await system.mount(parse(blocks("yaml")[0]!).dataflex);
  await run.put(1, "post_advantage", { ...advantageStep(valuesOf(1)) });
  const [pipeline] = (await run.weights(1, { timeoutMs: 30_000 })).pipelines;
  expect(worst(pipeline!.weights, softmaxWeights(valuesOf(1).map((value) => value ** 2)))).toBeLessThan(1e-5);
});

test("its check of that component passes, and finds what is broken in it", () => {
  const file = loudness();
  const check = blocks("python").find((text) => text.includes("check_component("))!;
  const run = () => spawnSync(process.env.DFX_PYTHON!, ["-c", check], { cwd: dirname(file), encoding: "utf8" });
  expect(run()).toMatchObject({ status: 0, stderr: "" });
  writeFileSync(file, readFileSync(file, "utf8").replace("tokens.mean()", 'batch.padded("advantages").mean(-1)'));
  const broken = run();
  expect(broken.status).toBe(1);
  expect(broken.stderr).toMatch(/padding, .*: padded by 3 more tokens/);
});
