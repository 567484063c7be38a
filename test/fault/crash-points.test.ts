import type { Run } from "dataflex-mq";
import type { ServiceProcess } from "dataflex-mq/server";
import { expect, test } from "vitest";
import { FAULT_POINTS } from "../../src/fault-points.js";
import { runKeys } from "../../src/redis/keys.js";
import { advantageStep, REWEIGHT, softmaxWeights, valuesOf, worst } from "../helpers/batches.js";
import { eventually } from "../helpers/eventually.js";
import { exited, Fleet } from "../helpers/processes.js";
import { useSystem } from "../helpers/system.js";

const STAGE = "post_advantage";
const LIMIT_MS = 300_000;
const system = useSystem({ workers: [] });
const fleet = new Fleet();
const points = (role: string) => FAULT_POINTS.filter((p) => p.startsWith(`${role}.`));

/** Every step has its right weights and one outcome, and nobody settled it a second time. */
async function expectOnceEach(run: Run, steps: readonly number[]): Promise<void> {
  await Promise.all(
    steps.map(async (n) => {
      const [p] = (await run.weights(n, { timeoutMs: 60_000 })).pipelines;
      expect(worst(p!.weights, softmaxWeights(valuesOf(n)))).toBeLessThan(1e-5);
      const { out } = runKeys(run.handle.run).step(run.handle.incarnation, `${n}.0`);
      expect(await system.redis.raw.xlen(out)).toBe(1);
    }),
  );
  const notices = await system.redis.raw.xrange(runKeys(run.handle.run).notices, "-", "+");
  const mine = notices.filter(([, f]) => f.includes("settled") && f.includes(run.handle.run));
  expect(mine).toHaveLength(steps.length);
}

test.each(points("broker"))(
  "brokers killed at %s, twenty times, lose and double nothing",
  async (point) => {
    const worker = await system.worker();
    const run = await system.mount();
    await Promise.all(system.brokers.splice(0).map((b) => b.stop()));

    const pool = new Set<ServiceProcess>();
    let crashes = 0;
    const arm = async (): Promise<void> => {
      const broker = await fleet.spawn("broker", system.redis.url, { crashAt: point });
      pool.add(broker);
      void exited(broker).then(() => {
        crashes++;
        pool.delete(broker);
      });
    };
    const steps = Array.from({ length: 20 }, (_, n) => n);
    let arming = Promise.all([arm(), arm(), arm()]);
    for (const n of steps) {
      await arming;
      const before = crashes;
      await run.put(n, STAGE, { ...advantageStep(valuesOf(n)) });
      await eventually(() => crashes > before, { what: `a broker killed at ${point}`, timeoutMs: 30_000 });
      arming = Promise.all(Array.from({ length: Math.max(0, 3 - pool.size) }, arm)) as typeof arming;
    }
    expect(crashes).toBeGreaterThanOrEqual(20);
    await arming;
    await Promise.all([...pool].map((broker) => fleet.kill(broker)));
    await system.broker();
    await expectOnceEach(run, steps);
    await worker.stop();
  },
  LIMIT_MS,
);

test(
  "workers killed at every named point, five times each, lose and double nothing",
  async () => {
    const first = await system.worker();
    const run = await system.mount();
    await first.stop();
    const armed = await Promise.all(
      points("worker").flatMap((crashAt) => [1, 2, 3, 4, 5].map(() => fleet.worker(system.redis.url, { crashAt }))),
    );
    const steps = armed.map((_, n) => n);
    for (const n of steps) await run.put(n, STAGE, { ...advantageStep(valuesOf(n)) });
    await Promise.all(armed.map(exited));
    const healthy = await system.worker({ slots: 4 });
    await expectOnceEach(run, steps);
    await healthy.stop();
  },
  LIMIT_MS,
);

test(
  "a broker killed while it mounts: the mount is answered by the next, once",
  async () => {
    const worker = await system.worker();
    await Promise.all(system.brokers.splice(0).map((b) => b.stop()));
    for (const crashAt of ["broker.announcement-read", "broker.acknowledged"] as const) {
      const armed = await fleet.spawn("broker", system.redis.url, { crashAt });
      const mounting = system.mount(REWEIGHT, { timeoutMs: 30_000, takeover: true });
      await exited(armed);
      const broker = await system.broker();
      const { handle } = await mounting;
      expect(await system.redis.raw.hget(runKeys(handle.run).mount, "inc")).toBe(String(handle.incarnation));
      system.brokers.pop();
      await broker.stop();
    }
    await system.broker();
    await worker.stop();
  },
  LIMIT_MS,
);
