import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "dataflex-mq/server";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { advantageStep, softmaxWeights, valuesOf, worst } from "../helpers/batches.js";
import { useSystem } from "../helpers/system.js";

const system = useSystem({ workers: [] });

test("the first lines of docs/python-components.md do what they say", async () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/python-components.md"), "utf8");
  const block = (language: string): string => new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(page)![1]!;
  const folder = mkdtempSync(join(tmpdir(), "dfx-page-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "loudness.py");
  writeFileSync(file, block("python"));
  const worker = await new Worker({ redisUrl: system.redis.url, plugins: [file] }).start();
  onTestFinished(() => worker.stop());
  const run = await system.mount(parse(block("yaml")).dataflex);
  await run.put(1, "post_advantage", { ...advantageStep(valuesOf(1)) });
  const [pipeline] = (await run.weights(1, { timeoutMs: 30_000 })).pipelines;
  expect(worst(pipeline!.weights, softmaxWeights(valuesOf(1).map((value) => value ** 2)))).toBeLessThan(1e-5);
});
