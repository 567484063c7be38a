import { expect, test } from "vitest";
import { runKeys } from "../../src/redis/keys.js";
import { advantageStep, REWEIGHT, softmaxWeights, valuesOf, worst } from "../helpers/batches.js";
import { rejection } from "../helpers/eventually.js";
import { SCORERS } from "../helpers/processes.js";
import { useSystem } from "../helpers/system.js";

const STAGE = "post_advantage";
const system = useSystem({ workers: [{ plugins: [SCORERS] }] });
const slow = { ...REWEIGHT, scorer: { name: "slow", params: { ms: 300 } } };

test("40 steps at once on a worker that manages half of them in time: each settles, by its weights or for being late, none is lost", async () => {
  const run = await system.mount({ ...slow, max_wait_ms: 6_000 });
  const steps = Array.from({ length: 40 }, (_, n) => n);
  await Promise.all(steps.map((n) => run.put(n, STAGE, { ...advantageStep(valuesOf(n)) })));
  const outcomes = await Promise.all(
    steps.map((n) =>
      run.weights(n).then(
        (r) => (worst(r.pipelines[0]!.weights, softmaxWeights(valuesOf(n))) < 1e-5 ? "served" : "wrong"),
        (error) => error.code as string,
      ),
    ),
  );
  const count = (what: string): number => outcomes.filter((o) => o === what).length;
  // The trainer's deadline and the service's are the same: either may be first.
  const late = count("EXPIRED") + count("TIMEOUT");
  expect(count("served") + late).toBe(40);
  expect(count("served")).toBeGreaterThan(1);
  expect(late).toBeGreaterThan(0);
  await run.put(99, STAGE, { ...advantageStep(valuesOf(99)) });
  expect((await run.weights(99)).pipelines[0]!.rows).toBe(4);
});

test("a trainer's timeout settles its steps, so the next ones are served in time", async () => {
  const run = await system.mount(slow);
  const late = Array.from({ length: 20 }, (_, n) => n);
  await Promise.all(late.map((n) => run.put(n, STAGE, { ...advantageStep(valuesOf(n)) })));
  await Promise.all(late.map((n) => rejection(run.weights(n, { timeoutMs: 1 })).catch(() => {})));
  for (const n of late) {
    const { status } = runKeys(run.handle.run).step(run.handle.incarnation, `${n}.0`);
    expect(await system.redis.raw.hexists(status, "settled:main")).toBe(1);
  }
  const started = performance.now();
  await run.put(100, STAGE, { ...advantageStep(valuesOf(100)) });
  await run.weights(100);
  expect(performance.now() - started).toBeLessThan(2_500);
});

test("a trainer whose own loop stands still for seconds loses nothing and does nothing twice", async () => {
  const run = await system.mount();
  const put = run.put(1, STAGE, { ...advantageStep(valuesOf(1)) }, { timeoutMs: 2_000 });
  // Let the bytes leave, then compute for longer than every deadline of the transport.
  await new Promise(setImmediate);
  const end = performance.now() + 5_000;
  while (performance.now() < end);
  await put.catch(() => {});
  const again = await run.put(1, STAGE, { ...advantageStep(valuesOf(1)) });
  expect(["NEW", "DUPLICATE"]).toContain(again.kind);
  const [p] = (await run.weights(1)).pipelines;
  expect(worst(p!.weights, softmaxWeights(valuesOf(1)))).toBeLessThan(1e-5);
  const { out } = runKeys(run.handle.run).step(run.handle.incarnation, "1.0");
  expect(await system.redis.raw.xlen(out)).toBe(1);
});
