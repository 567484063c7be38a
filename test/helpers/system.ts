import { Client, type MountOptions, type Run } from "dataflex-mq";
import { Broker, Worker, type WorkerOptions } from "dataflex-mq/server";
import { afterAll, afterEach, beforeAll } from "vitest";
import { REWEIGHT } from "./batches.js";
import { eventually } from "./eventually.js";
import { assertNoLeak, children } from "./leaks.js";
import { startTestRedis, type TestRedis } from "./redis.js";

export interface SystemOptions {
  readonly brokers?: number;
  /** Options of each worker; default one worker. */
  readonly workers?: readonly Omit<WorkerOptions, "redisUrl">[];
  readonly redis?: readonly string[];
}

/** Six times as often as in production, since tests wait for it. */
const WALK_MS = 500;

/** A whole system inside the test's process, with a Redis of its own. */
export class System {
  redis!: TestRedis;
  readonly brokers: Broker[] = [];
  readonly workers: Worker[] = [];
  readonly #clients: Client[] = [];
  #runs = 0;

  /** A client that is closed after the test. */
  async client(url = this.redis.url): Promise<Client> {
    const client = await Client.connect({ redisUrl: url });
    this.#clients.push(client);
    return client;
  }

  /** A run of its own name in a client of its own. */
  async mount(dataflex: unknown = REWEIGHT, more: Partial<MountOptions> = {}): Promise<Run> {
    return (await this.client()).mount({
      run_id: `run-${this.#runs++}`,
      dataflex,
      adv_estimator: "grpo",
      timeoutMs: 10_000,
      ...more,
    });
  }

  async broker(): Promise<Broker> {
    const broker = await new Broker({ redisUrl: this.redis.url, walkMs: WALK_MS }).start();
    this.brokers.push(broker);
    return broker;
  }

  async worker(options: Omit<WorkerOptions, "redisUrl"> = {}): Promise<Worker> {
    const worker = await new Worker({ redisUrl: this.redis.url, ...options }).start();
    this.workers.push(worker);
    return worker;
  }

  async closeClients(): Promise<void> {
    for (const client of this.#clients.splice(0)) await client.close();
  }

  async stop(): Promise<void> {
    await this.closeClients();
    await Promise.all([...this.workers, ...this.brokers].map((s) => s.stop()));
    await eventually(async () => (await this.redis.connections()).length === 0, {
      what: "the end of every connection of stopped services",
      timeoutMs: 5_000,
    });
    await this.redis.stop();
  }
}

/** Registers a system for the tests of one file; what a test leaves behind fails that test. */
export function useSystem(o: SystemOptions = {}): System {
  const system = new System();
  let before: number[] = [];
  beforeAll(async () => {
    before = children().map((c) => c.pid);
    system.redis = await startTestRedis(o.redis);
    for (let i = 0; i < (o.brokers ?? 1); i++) await system.broker();
    for (const options of o.workers ?? [{}]) await system.worker(options);
  });
  afterEach(async () => {
    await system.closeClients();
    await assertNoLeak(system.redis);
  });
  afterAll(async () => {
    await system.stop();
    await eventually(() => children().every((c) => before.includes(c.pid)), {
      what: "the end of every child process",
      timeoutMs: 5_000,
    });
  });
  return system;
}
