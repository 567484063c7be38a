import { expect } from "vitest";
import { Broker } from "../../src/broker/broker.js";
import { DEFAULT_LIMITS } from "../../src/columns/limits.js";
import { withHistory } from "../../src/observe/history/history-sink.js";
import { type BrokerMetrics, createBrokerMetrics } from "../../src/observe/metrics/broker-recorder.js";
import type { Handle, ResultHeader } from "../../src/protocol/messages.js";
import type { PipelineSpec } from "../../src/protocol/pipeline-spec.js";
import type { CombinedReport } from "../../src/protocol/statistics-messages.js";
import { runKeys } from "../../src/redis/keys.js";
import { mountRun } from "../../src/redis/scripts/mount-run.js";
import { releaseStep } from "../../src/redis/scripts/release.js";
import { settle, settleFailure } from "../../src/redis/scripts/settle.js";
import { eventually } from "./eventually.js";
import { oursOf, valueIn } from "./metrics.js";
import type { TestRedis } from "./redis.js";

/** A broker inside the test's process, with its metrics. */
export interface Watched {
  readonly broker: Broker;
  readonly metrics: BrokerMetrics;
  /** The page, after a look at Redis. */
  page(): Promise<string>;
  /** The page once `holds` is true of it; fails with the last page. */
  until(holds: (page: string) => boolean): Promise<string>;
}

export async function startBroker(url: string, now?: () => number): Promise<Watched> {
  const broker = await new Broker({ redisUrl: url }).start();
  const metrics = createBrokerMetrics(withHistory(broker), now ? { now } : {});
  const page = async (): Promise<string> => {
    await metrics.refresh();
    return metrics.text();
  };
  const look = async (holds: (page: string) => boolean): Promise<string> => {
    const text = await page();
    if (holds(text)) return text;
    throw new Error(oursOf(text));
  };
  const until: Watched["until"] = (holds) =>
    eventually(() => look(holds), { what: "the expected metrics", timeoutMs: 20_000 });
  return { broker, metrics, page, until };
}

/** A broker that leads already. */
export async function startLeader(url: string, now?: () => number): Promise<Watched> {
  const leader = await startBroker(url, now);
  await leader.until((page) => valueIn(page, "dataflex_broker_leader") === 1);
  return leader;
}

/** What trainers and workers do to Redis, by the real scripts, without the tensors. */
export class FakeRun {
  readonly #redis: TestRedis;
  readonly handle: Handle;

  private constructor(redis: TestRedis, handle: Handle) {
    this.#redis = redis;
    this.handle = handle;
  }

  static async mount(
    redis: TestRedis,
    run: string,
    pipelines: readonly PipelineSpec[],
    more: Partial<Handle> = {},
  ): Promise<FakeRun> {
    const body = {
      v: 1,
      run,
      mount_id: `${run}-${Math.random()}`,
      limits: DEFAULT_LIMITS,
      stages: {},
      pipelines,
      composition: { combine: "multiply", rescale: "none" },
      max_wait_ms: 10_000,
      on_unavailable: "error",
      warnings: [],
      ...more,
    } as const;
    const outcome = await mountRun(redis.raw, body, true);
    if (outcome.word === "BUSY") throw new Error(`run ${run} is busy`);
    return new FakeRun(redis, outcome.handle);
  }

  /** The status that a committed put leaves. */
  async open(step: string): Promise<void> {
    const { run, incarnation } = this.handle;
    const keys = runKeys(run);
    const now = Date.now();
    const status = { inc: incarnation, attempt: 1, created: now - 40, deadline: now + 10_000 };
    await this.#redis.raw.hset(keys.step(incarnation, step).status, status);
    await this.#redis.raw.zadd(keys.steps, now + 10_000, `${incarnation}:${step}`);
  }

  async settle(step: string, ...results: ResultHeader[]): Promise<void> {
    await this.open(step);
    for (const result of results) {
      const word = await settle(this.#redis.raw, this.#ref(step), result, [new Uint8Array(32)], this.handle.limits);
      expect(word).toBe("OK");
    }
  }

  async fail(step: string, code: "NON_FINITE" | "EXPIRED" | "TIMEOUT"): Promise<void> {
    await this.open(step);
    const { stage, name } = this.handle.pipelines[0]!;
    const producer = { worker: "w", pid: 1, job_id: "j" };
    const failure = { pipeline: name, stage, attempt: 1, code, message: "m", details: {}, producer };
    expect(await settleFailure(this.#redis.raw, this.#ref(step), failure, this.handle.limits)).toBe("OK");
  }

  async release(step: string, waitMs: number, combined?: CombinedReport): Promise<void> {
    const report = { wait_ms: waitMs, ...(combined && { combined }) };
    const { word } = await releaseStep(this.#redis.raw, this.#ref(step), { step_ttl_ms: 60_000 }, report);
    expect(word).toBe("OK");
  }

  #ref(step: string) {
    return { run: this.handle.run, incarnation: this.handle.incarnation, step };
  }
}
