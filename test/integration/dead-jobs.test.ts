import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ListedDeadJob } from "../../src/redis/dead-jobs.js";
import { advantageStep, REWEIGHT, softmaxWeights, valuesOf, worst } from "../helpers/batches.js";
import { dataflexMq } from "../helpers/cli.js";
import { eventually, rejection } from "../helpers/eventually.js";
import { Fleet, SCORERS, useFolder } from "../helpers/processes.js";
import { useSystem } from "../helpers/system.js";

const system = useSystem({ workers: [] });
const folder = useFolder();
const fleet = new Fleet();
const STAGE = "post_advantage";
const LIMIT_MS = 120_000;
const dead = async (...args: string[]) => dataflexMq(["dead", ...args, "--json", "--redis", system.redis.url]);
const list = async (): Promise<ListedDeadJob[]> => JSON.parse((await dead("ls")).out).dead;

/** Throws while a file of its folder is there. */
const BROKEN = join(folder, "broken");
const plugin = join(folder, "mended.ts");
writeFileSync(
  plugin,
  `import { existsSync } from "node:fs";
import { defineScorer, z } from "dataflex-mq";
export const mended = defineScorer({
  name: "mended", requires: ["advantages", "response_mask"], timing: "post_advantage", granularity: "response", rows: "batch",
  params: z.strictObject({}),
  score(batch) {
    if (existsSync(${JSON.stringify(BROKEN)})) throw new TypeError("thirteen is not a number");
    return batch.field("advantages").abs().mean();
  },
});
`,
);

test(
  "a component that throws: listed with shapes, hashes and stack; shown; retried as a new attempt; dropped",
  async () => {
    writeFileSync(BROKEN, "");
    await system.worker({ plugins: [plugin] });
    const run = await system.mount({ ...REWEIGHT, scorer: { name: "mended" } });
    await run.put(1, STAGE, { ...advantageStep(valuesOf(1)) });
    await run.put(2, STAGE, { ...advantageStep(valuesOf(2)) });
    expect(await rejection(run.weights(1, { timeoutMs: 20_000 }))).toMatchObject({ code: "COMPONENT" });
    expect(await rejection(run.weights(2, { timeoutMs: 20_000 }))).toMatchObject({ code: "COMPONENT" });
    const jobs = await eventually(async () => ((await list()).length === 2 ? list() : undefined));
    const job = jobs.find(({ step }) => step === "1.0")!;
    expect(job).toMatchObject({
      ...{ run: run.handle.run, stage: STAGE, pipeline: "main", attempt: 1, scorer: "mended", actuator: "softmax" },
      ...{ code: "COMPONENT", message: expect.stringContaining("thirteen is not a number") },
      stack: expect.stringContaining("mended.ts"),
      puts: [
        {
          hash: expect.stringMatching(/^[0-9a-f]{32}$/),
          columns: expect.arrayContaining([
            expect.objectContaining({ name: "advantages", dtype: "f32", shape: [4, 5] }),
          ]),
        },
      ],
    });
    const shown = await dataflexMq(["dead", "show", job.id, "--redis", system.redis.url]);
    for (const part of [job.id, run.handle.run, "mended → softmax", "advantages f32 [4, 5]", "mended.ts"])
      expect(shown.out).toContain(part);
    rmSync(BROKEN);
    expect(JSON.parse((await dead("retry", job.id)).out).retry).toEqual([
      { job: job.id, said: "step 1.0 is computed again, as attempt 2" },
    ]);
    const [p] = (await run.weights(1, { timeoutMs: 20_000 })).pipelines;
    expect(worst(p!.weights, softmaxWeights(valuesOf(1)))).toBeLessThan(1e-5);
    const [other] = await list();
    await run.release(2);
    expect(JSON.parse((await dead("retry", other!.id)).out).retry[0].said).toContain("gone");
    expect(await list()).toEqual([]);
  },
  LIMIT_MS,
);

test(
  "a job that kills its workers: listed as POISON, and dropped with `all`",
  async () => {
    for (const worker of system.workers.splice(0)) await worker.stop();
    const workers = await Promise.all([0, 1, 2].map(() => fleet.worker(system.redis.url)));
    const run = await system.mount({ ...REWEIGHT, scorer: { name: "unlucky", params: { how: "kill" } } });
    await run.put(13, STAGE, { ...advantageStep([1, 2]) });
    expect(await rejection(run.weights(13, { timeoutMs: 60_000 }))).toMatchObject({ code: "POISON" });
    const [job] = await eventually(async () => ((await list()).length > 0 ? list() : undefined));
    expect(job).toMatchObject({ code: "POISON", step: "13.0", scorer: "unlucky", details: { deaths: 2 } });
    expect(job!.puts[0]!.columns.length).toBeGreaterThan(0);
    expect(JSON.parse((await dead("drop", "all")).out).drop).toHaveLength(1);
    expect(await list()).toEqual([]);
    await Promise.all(workers.map((worker) => fleet.kill(worker)));
  },
  LIMIT_MS,
);

test(
  "wrong input is the trainer's to mend: it is not listed; a wrong id or action says what is right",
  async () => {
    await system.worker({ plugins: [SCORERS] });
    const run = await system.mount();
    await run.put(1, STAGE, { advantages: [[Number.NaN]], response_mask: [[1]] });
    expect(await rejection(run.weights(1, { timeoutMs: 20_000 }))).toMatchObject({ code: "NON_FINITE" });
    expect(await list()).toEqual([]);
    for (const [args, said] of [
      [["show", "1-1"], "no dead job"],
      [["show"], "needs the id"],
      [["shwo", "1-1"], 'did you mean "show"'],
    ] as const) {
      const { code, err } = await dead(...args);
      expect([code, err]).toEqual([2, expect.stringContaining(said.replaceAll('"', '\\"'))]);
    }
  },
  LIMIT_MS,
);
