import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ServiceProcess } from "dataflex-mq/server";
import { expect, test } from "vitest";
import { runKeys } from "../../src/redis/keys.js";
import { advantageStep, REWEIGHT, softmaxWeights, valuesOf, worst } from "../helpers/batches.js";
import { eventually, rejection } from "../helpers/eventually.js";
import { exited, Fleet, holders, useFolder } from "../helpers/processes.js";
import { useSystem } from "../helpers/system.js";

const LIMIT_MS = 240_000;
const STAGE = "post_advantage";
const system = useSystem({ workers: [] });
const folder = useFolder();
const fleet = new Fleet();
const scoredBy = (name: string, params: object) => ({ ...REWEIGHT, scorer: { name, params } });
const spawnWorkers = (n: number): Promise<ServiceProcess[]> =>
  Promise.all(Array.from({ length: n }, () => fleet.worker(system.redis.url)));

test(
  "kill -9 of the worker that holds a job: the right weights within 15 s and one outcome, twenty times of twenty",
  async () => {
    await spawnWorkers(7);
    const run = await system.mount(scoredBy("gated", { folder }));
    const out = (n: number) => runKeys(run.handle.run).step(run.handle.incarnation, `${n}.0`).out;
    const took: number[] = [];
    for (let round = 0; round < 4; round++) {
      const steps = [0, 1, 2, 3, 4].map((i) => round * 5 + i);
      await Promise.all(steps.map((n) => run.put(n, STAGE, { ...advantageStep(valuesOf(n)) })));
      const held = await Promise.all(
        steps.map((n) => eventually(() => holders(folder, run.handle.run, n)[0], { what: `a holder of step ${n}` })),
      );
      expect(new Set(held).size).toBe(5);
      await Promise.all(held.map((pid) => fleet.kill(fleet.byPid(pid))));
      const killed = performance.now();
      for (const n of steps) writeFileSync(join(folder, `open-${n}`), "");
      await Promise.all(
        steps.map(async (n, i) => {
          const [p] = (await run.weights(n, { timeoutMs: 30_000 })).pipelines;
          took.push(performance.now() - killed);
          expect(worst(p!.weights, softmaxWeights(valuesOf(n)))).toBeLessThan(1e-5);
          expect(p!.producer.pid).not.toBe(held[i]);
        }),
      );
      if (round < 3) await spawnWorkers(5);
    }
    expect(took).toHaveLength(20);
    expect(Math.max(...took)).toBeLessThan(15_000);
    for (let n = 0; n < 20; n++) expect(await system.redis.raw.xlen(out(n))).toBe(1);
  },
  LIMIT_MS,
);

test(
  "a job whose scorer kills its process settles as poison; the others go on",
  async () => {
    const pool = await spawnWorkers(4);
    const run = await system.mount(scoredBy("unlucky", { how: "kill" }));
    const started = performance.now();
    await run.put(13, STAGE, { ...advantageStep([1, 2]) });
    const poisoned = rejection(run.weights(13, { timeoutMs: 40_000 }));
    for (let n = 0; n < 10; n++) {
      await run.put(n, STAGE, { ...advantageStep(valuesOf(n)) });
      const [p] = (await run.weights(n, { timeoutMs: 20_000 })).pipelines;
      expect(worst(p!.weights, softmaxWeights(valuesOf(n)))).toBeLessThan(1e-5);
    }
    expect(await poisoned).toMatchObject({ code: "POISON", message: expect.stringContaining("2 workers died") });
    expect(performance.now() - started).toBeLessThan(30_000);
    await Promise.all(pool.map((p) => (p.child.signalCode ? exited(p) : fleet.kill(p))));
  },
  LIMIT_MS,
);
