import type { Run } from "dataflex-mq";
import type { ServiceProcess } from "dataflex-mq/server";
import { expect, test } from "vitest";
import { FAULT_POINTS, type FaultPoint } from "../../src/fault-points.js";
import { runKeys } from "../../src/redis/keys.js";
import { advantageStep, REWEIGHT, softmaxWeights, valuesOf, worst } from "../helpers/batches.js";
import { eventually } from "../helpers/eventually.js";
import { Fleet } from "../helpers/processes.js";
import { useSystem } from "../helpers/system.js";

const STAGE = "post_advantage";
const LIMIT_MS = 300_000;
const system = useSystem({ workers: [] });
const fleet = new Fleet();
const points = (role: string): FaultPoint[] => FAULT_POINTS.filter((p) => p.startsWith(`${role}.`));
const mount = () => system.mount(REWEIGHT, { timeoutMs: 60_000 });

/** Every step has its right weights and one outcome, and nobody settled it a second time. */
async function expectOnceEach(run: Run, steps: readonly number[]): Promise<void> {
  for (const n of steps) {
    const [p] = (await run.weights(n, { timeoutMs: 60_000 })).pipelines;
    expect(worst(p!.weights, softmaxWeights(valuesOf(n)))).toBeLessThan(1e-5);
    const { out } = runKeys(run.handle.run).step(run.handle.incarnation, `${n}.0`);
    expect(await system.redis.raw.xlen(out)).toBe(1);
  }
  const notices = await system.redis.raw.xrange(runKeys(run.handle.run).notices, "-", "+");
  const mine = notices.filter(([, f]) => f.includes("settled") && f.includes(run.handle.run));
  expect(mine).toHaveLength(steps.length);
}

/** With no other broker at work while `work` runs. */
async function withoutBroker<T>(work: () => Promise<T>): Promise<T> {
  await Promise.all(system.brokers.splice(0).map((b) => b.stop()));
  try {
    return await work();
  } finally {
    await system.broker();
  }
}

/** Brokers armed to die at a point, kept three strong; counts their deaths. */
class Armed {
  crashes = 0;
  readonly #point: FaultPoint;
  readonly #living = new Set<ServiceProcess>();

  constructor(point: FaultPoint) {
    this.#point = point;
  }
  /** Until so many have died: of what was put, or of what those before them have left pending. */
  async died(times: number): Promise<void> {
    while (this.crashes < times) {
      await Promise.all(Array.from({ length: 3 - this.#living.size }, () => this.#add()));
      await eventually(() => this.crashes >= times || this.#living.size < 3, {
        what: `a broker killed at ${this.#point}`,
        timeoutMs: 30_000,
      });
    }
  }
  async #add(): Promise<void> {
    const { service, crashed } = await fleet.armed("broker", system.redis.url, this.#point);
    if (service) this.#living.add(service);
    void crashed.then(() => {
      this.crashes++;
      if (service) this.#living.delete(service);
    });
  }
  async kill(): Promise<void> {
    await Promise.all([...this.#living].map((broker) => fleet.kill(broker)));
  }
}

test.each(points("broker"))(
  "brokers killed at %s, twenty times, lose and double nothing",
  async (point) => {
    const worker = await system.worker();
    const run = await mount();
    const steps = Array.from({ length: 20 }, (_, n) => n);
    await withoutBroker(async () => {
      const armed = new Armed(point);
      for (const n of steps) {
        await run.put(n, STAGE, { ...advantageStep(valuesOf(n)) });
        await armed.died(n + 1);
      }
      await armed.kill();
    });
    await expectOnceEach(run, steps);
    await worker.stop();
  },
  LIMIT_MS,
);

test(
  "workers killed at every named point, three times each, lose and double nothing",
  async () => {
    const first = await system.worker();
    const run = await mount();
    await first.stop();
    const thrice = [1, 2, 3];
    const armed = await Promise.all(
      points("worker").flatMap((point) => thrice.map(() => fleet.armed("worker", system.redis.url, point))),
    );
    const steps = armed.map((_, n) => n);
    for (const n of steps) await run.put(n, STAGE, { ...advantageStep(valuesOf(n)) });
    await Promise.all(armed.map((a) => a.crashed));
    const healthy = await system.worker({ slots: 4 });
    await expectOnceEach(run, steps);
    await healthy.stop();
  },
  LIMIT_MS,
);

test(
  "brokers killed while they mount: the mount is answered by the next, once",
  async () => {
    const worker = await system.worker();
    for (const point of ["broker.announcement-read", "broker.acknowledged"] as const) {
      const { asked } = await withoutBroker(async () => {
        const asked = mount();
        const { crashed } = await fleet.armed("broker", system.redis.url, point);
        await crashed;
        return { asked };
      });
      const { handle } = await asked;
      expect(await system.redis.raw.hget(runKeys(handle.run).mount, "inc")).toBe(String(handle.incarnation));
    }
    await worker.stop();
  },
  LIMIT_MS,
);
