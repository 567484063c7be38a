import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import type { JobData } from "../../src/protocol/messages.js";
import { runKeys } from "../../src/redis/keys.js";
import { begin, letGo } from "../../src/redis/scripts/begin.js";
import { advantageStep, REWEIGHT, softmaxWeights, valuesOf, worst } from "../helpers/batches.js";
import { eventually } from "../helpers/eventually.js";
import { Fleet, holders, SCORERS, useFolder } from "../helpers/processes.js";
import { useSystem } from "../helpers/system.js";

const STAGE = "post_advantage";
const LIMIT_MS = 120_000;
/** Longer than a job's lock lasts, shorter than a heartbeat. */
const STANDSTILL_MS = 6_500;

const system = useSystem({ workers: [] });
const folder = useFolder();
const fleet = new Fleet();
const gated = { ...REWEIGHT, scorer: { name: "gated", params: { folder } } };

/** A job that loses its lock again and again while each of its holders lives, and that then may finish. */
async function lives(step: number, times: number, standstill: (holder: number) => Promise<void>): Promise<void> {
  const run = await system.mount(gated);
  await run.put(step, STAGE, { ...advantageStep(valuesOf(step)) });
  const weights = run.weights(step, { timeoutMs: 90_000 });
  const held = () => holders(folder, run.handle.run, step);
  for (let n = 1; n <= times; n++) {
    const pid = await eventually(() => held()[n - 1], { what: `holder ${n}`, timeoutMs: 30_000 });
    await standstill(pid);
  }
  await eventually(() => held().length > times, { what: "one more holder", timeoutMs: 30_000 });
  writeFileSync(join(folder, `open-${step}`), "");
  const [p] = (await weights).pipelines;
  expect(worst(p!.weights, softmaxWeights(valuesOf(step)))).toBeLessThan(1e-5);
  const { out } = runKeys(run.handle.run).step(run.handle.incarnation, `${step}.0`);
  expect(await system.redis.raw.xlen(out)).toBe(1);
}

const standstills = {
  "Redis stopped (SIGSTOP)": async () => {
    process.kill(system.redis.pid, "SIGSTOP");
    await pause(STANDSTILL_MS);
    process.kill(system.redis.pid, "SIGCONT");
  },
  "Redis stopped for longer than heartbeats last": async () => {
    process.kill(system.redis.pid, "SIGSTOP");
    await pause(2 * STANDSTILL_MS);
    process.kill(system.redis.pid, "SIGCONT");
  },
  "every command held back (CLIENT PAUSE)": async () => {
    await system.redis.raw.call("CLIENT", "PAUSE", String(STANDSTILL_MS), "ALL");
    await pause(STANDSTILL_MS);
  },
  "its worker stopped (SIGSTOP)": async (pid: number) => {
    process.kill(pid, "SIGSTOP");
    await pause(STANDSTILL_MS);
    process.kill(pid, "SIGCONT");
  },
};

test.each(Object.entries(standstills))(
  "a long job loses its holder twice by %s: nobody died, so it is no poison, and its weights come, once",
  async (_, standstill) => {
    const workers = await Promise.all([0, 1, 2].map(() => fleet.worker(system.redis.url)));
    await lives(workers[0]!.pid, 2, standstill);
    await Promise.all(workers.map((worker) => fleet.kill(worker)));
  },
  LIMIT_MS,
);

test("who gives a job back alive is no holder of it any more; who began an earlier attempt neither", async () => {
  const worker = await system.worker({ plugins: [SCORERS] });
  const run = await system.mount(gated);
  await run.put(50, STAGE, { ...advantageStep(valuesOf(50)) });
  const [spec] = run.handle.pipelines;
  const { status } = runKeys(run.handle.run).step(run.handle.incarnation, "50.0");
  await eventually(() => holders(folder, run.handle.run, 50).length > 0);
  const ask = async (id: string) => {
    const [attempt, content] = await system.redis.raw.hmget(status, "attempt", "content:main");
    const job: JobData = {
      ...{ run: run.handle.run, incarnation: run.handle.incarnation, step: "50.0", pipeline: "main" },
      ...{ attempt: Number(attempt), content: content!, shard: [0, 1] as const, deadline: 0, added: 0 },
      stage: STAGE,
    };
    const begun = await begin(system.redis.raw, job, spec!, run.handle.limits, id);
    return { job, holders: begun.word === "OK" ? begun.holders : [] };
  };
  const { job } = await ask("a");
  expect((await ask("b")).holders.toSorted()).toEqual(["a", worker.id].toSorted());
  await letGo(system.redis.raw, job, "a");
  expect((await ask("b")).holders).toEqual([worker.id]);
  await run.put(50, STAGE, { ...advantageStep(valuesOf(51)) }, { replace: true });
  writeFileSync(join(folder, "open-50"), "");
  expect((await ask("c")).holders).not.toContain("b");
  const [p] = (await run.weights(50, { timeoutMs: 20_000 })).pipelines;
  expect(worst(p!.weights, softmaxWeights(valuesOf(51)))).toBeLessThan(1e-5);
});
