import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ServiceProcess, spawnService } from "dataflex-mq/server";
import { afterAll } from "vitest";
import type { FaultPoint } from "../../src/fault-points.js";
import { alive } from "./leaks.js";

export const SCORERS = fileURLToPath(new URL("./plugins/scorers.ts", import.meta.url));

/** A folder of one test file, gone with it. */
export function useFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "dfx-test-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const AT_ONCE = 2;

/** Service processes of one test file; those that still live at its end are killed. */
export class Fleet {
  readonly #all: ServiceProcess[] = [];
  #starting: Promise<unknown>[] = [];

  constructor() {
    afterAll(() => Promise.all(this.#all.map((p) => this.kill(p))));
  }

  async spawn(
    role: ServiceProcess["role"],
    redisUrl: string,
    o: { args?: readonly string[]; crashAt?: FaultPoint } = {},
  ): Promise<ServiceProcess> {
    // Starting costs a second of a processor each: more at once would only make all of them late.
    while (this.#starting.length >= AT_ONCE) await Promise.race(this.#starting);
    const starting = this.#start(role, redisUrl, o);
    this.#starting.push(starting);
    try {
      return await starting;
    } finally {
      this.#starting = this.#starting.filter((s) => s !== starting);
    }
  }

  async #start(
    role: ServiceProcess["role"],
    redisUrl: string,
    o: { args?: readonly string[]; crashAt?: FaultPoint },
  ): Promise<ServiceProcess> {
    const args = ["--redis", redisUrl, "--http", "127.0.0.1:0", ...(o.args ?? [])];
    const service = await spawnService(role, args, o.crashAt ? { DFX_CRASH_AT: o.crashAt } : {});
    this.#all.push(service);
    return service;
  }

  /** A worker that has the scorers of `plugins/scorers.ts`. */
  worker(redisUrl: string, o: { slots?: number; crashAt?: FaultPoint } = {}): Promise<ServiceProcess> {
    const args = ["--plugin", SCORERS, "--slots", String(o.slots ?? 1)];
    return this.spawn("worker", redisUrl, { args, ...(o.crashAt ? { crashAt: o.crashAt } : {}) });
  }

  /**
   * A service that kills itself at a named point, which may be before it is ready. `alive`: it has begun to work, or has died of it.
   */
  async armed(role: ServiceProcess["role"], redisUrl: string, crashAt: FaultPoint, args: readonly string[] = []) {
    try {
      const service = await this.spawn(role, redisUrl, { crashAt, args });
      return { service, crashed: exited(service) };
    } catch (error) {
      if (!String(error).includes("SIGKILL")) throw error;
      return { service: undefined, crashed: Promise.resolve() };
    }
  }

  /** SIGKILL: nothing in the process gets to know. */
  async kill(service: Pick<ServiceProcess, "pid" | "child">): Promise<void> {
    const gone = exited(service);
    service.child.kill("SIGKILL");
    await gone;
  }

  byPid(pid: number): ServiceProcess {
    const found = this.#all.find((p) => p.pid === pid);
    if (!found) throw new Error(`no service has pid ${pid}`);
    return found;
  }
}

export function exited({ child }: Pick<ServiceProcess, "child">): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => child.once("exit", () => resolve()));
}

/** Pids of the attempts at a step that the gated scorer has noted, the newest last. */
export function holders(folder: string, run: string, step: number): number[] {
  try {
    return readFileSync(join(folder, `held-${run}-${step}`), "utf8")
      .trim()
      .split("\n")
      .map(Number);
  } catch {
    return [];
  }
}

export const dead = (pids: readonly number[]): boolean => pids.every((pid) => !alive(pid));
