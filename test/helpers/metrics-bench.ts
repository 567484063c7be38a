import { afterAll, afterEach, beforeAll } from "vitest";
import type { Handle } from "../../src/protocol/messages.js";
import type { PipelineSpec } from "../../src/protocol/pipeline-spec.js";
import { startTestRedis, type TestRedis } from "./redis.js";
import { FakeRun, startBroker, startLeader, type Watched } from "./watched-broker.js";

/** A Redis for one test file, empty for each test, and brokers that stop after the test. */
export class MetricsBench {
  redis!: TestRedis;
  readonly #stops: (() => Promise<unknown>)[] = [];

  /** Registers the set-up and clean-up of a test file. */
  static use(): MetricsBench {
    const bench = new MetricsBench();
    beforeAll(async () => {
      bench.redis = await startTestRedis();
    });
    afterEach(async () => {
      for (const stop of bench.#stops.splice(0).reverse()) await stop();
      await bench.redis.flush();
    });
    afterAll(() => bench.redis.stop());
    return bench;
  }

  /** Runs after the test, the last one first. */
  later(stop: () => Promise<unknown>): void {
    this.#stops.push(stop);
  }
  async broker(now?: () => number): Promise<Watched> {
    return this.#kept(await startBroker(this.redis.url, now));
  }
  async leader(now?: () => number): Promise<Watched> {
    return this.#kept(await startLeader(this.redis.url, now));
  }
  mount(run: string, pipelines: readonly PipelineSpec[], more: Partial<Handle> = {}): Promise<FakeRun> {
    return FakeRun.mount(this.redis, run, pipelines, more);
  }

  #kept(watched: Watched): Watched {
    this.later(() => watched.broker.stop());
    return watched;
  }
}
