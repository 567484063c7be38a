import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { FaultProxy } from "../../test/helpers/fault-proxy.js";
import type { Language } from "../plan/runs.js";
import { type ProducerOptions, ProducerProcess } from "../producers/producer-process.js";
import { Ledger } from "./ledger.js";
import type { ProcessHandle } from "./process-handle.js";
import { RedisHouse } from "./redis-house.js";
import { Services } from "./services.js";

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
export const SIDES = ["broker", "worker", "owner", "rank"] as const;
export type Side = (typeof SIDES)[number];

/** Redis, the wires to it, brokers, workers and producers: everything that runs, and that ends with `close`. */
export class World {
  readonly ledger = new Ledger();
  readonly redis: RedisHouse;
  services!: Services;
  readonly producers = new Set<ProducerProcess>();
  /** Killed on purpose. */
  readonly killed = new Set<ProcessHandle>();
  wires!: Readonly<Record<Side, FaultProxy>>;
  readonly #folder = mkdtempSync(join(tmpdir(), "dfx-chaos-"));
  readonly #clock = join(this.#folder, "clock");
  readonly #python: ProducerOptions["python"];
  readonly #env: Record<string, string> = {
    DFX_LOG: "fatal",
    DFX_CHAOS_CLOCK: this.#clock,
    NODE_OPTIONS: `--import ${pathToFileURL(here("../clock.mjs")).href}`,
  };

  constructor(python: ProducerOptions["python"]) {
    this.#python = python;
    this.redis = new RedisHouse(this.#folder);
    writeFileSync(this.#clock, "0");
  }

  /** Starts Redis, the wires and the services. */
  async open(): Promise<void> {
    await this.redis.start();
    const wires = await Promise.all(SIDES.map(async (side) => [side, await FaultProxy.start(this.redis.url)] as const));
    this.wires = Object.fromEntries(wires) as World["wires"];
    const { broker, worker } = this.wires;
    const args = {
      broker: ["--redis", broker.url],
      worker: ["--redis", worker.url, "--slots", "2", "--plugin", here("../plugin.ts")],
    };
    this.services = new Services(args, this.#env);
    await Promise.all((["broker", "broker", "worker", "worker"] as const).map((role) => this.services.add(role)));
  }

  /** From now on nothing is started. */
  closed = false;

  async producer(language: Language, side: Side): Promise<ProducerProcess> {
    if (this.closed) throw new Error("the harness ends");
    const producer = ProducerProcess.spawn(language, {
      url: this.wires[side].url,
      python: this.#python,
      env: this.#env,
    });
    this.producers.add(producer);
    void producer.ended.then(() => this.producers.delete(producer));
    try {
      await producer.ready;
      return producer;
    } catch (error) {
      await this.kill(producer);
      throw error;
    }
  }

  async kill(handle: ProcessHandle): Promise<void> {
    this.killed.add(handle);
    await handle.kill();
  }

  /** The wall clock of one process stands `ms` off from now on; a process that starts later has the same offset. */
  moveClock(handle: ProcessHandle, ms: number): void {
    writeFileSync(this.#clock, String(ms));
    handle.tick();
  }

  /** Points every wire to the current server; `drop`: also cuts connections to any other. */
  rewire(drop: boolean): void {
    for (const wire of Object.values(this.wires)) {
      if (drop) wire.down();
      wire.up(this.redis.url);
    }
  }
  unplug(): void {
    for (const wire of Object.values(this.wires)) wire.down();
  }

  /** Ends everything. Answers what did not end by itself. */
  async close(): Promise<string[]> {
    const handles = [...this.services.handles, ...this.producers];
    const pids = [...handles.map((h) => h.pid), ...this.redis.pids];
    const left = [...this.services.died(this.killed), ...(await this.services.stop())];
    await this.destroy();
    return [...left, ...pids.filter(isAlive).map((pid) => `process ${pid} still runs`)];
  }

  /** Ends everything at once, whatever state it is in. */
  async destroy(): Promise<void> {
    this.closed = true;
    await Promise.all([this.services?.kill(), ...[...this.producers].map((p) => p.kill())]);
    await Promise.all(Object.values(this.wires ?? {}).map((wire) => wire.stop()));
    await this.redis.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
