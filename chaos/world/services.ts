import { type ServiceProcess, spawnService } from "dataflex-mq/server";
import { ProcessHandle } from "./process-handle.js";

type Role = ServiceProcess["role"];

/** How long a service may take to end after SIGTERM. */
const STOP_MS = 15_000;

/** Brokers and workers of the build, each a process of its own; what is killed is replaced. */
export class Services {
  readonly #all: { role: Role; handle: ProcessHandle }[] = [];
  readonly #starting = new Set<Promise<void>>();
  readonly #start: (role: Role) => Promise<ServiceProcess>;

  /** `args`, `env`: of every process of a role. */
  constructor(args: Readonly<Record<Role, readonly string[]>>, env: Record<string, string>) {
    this.#start = (role) => spawnService(role, args[role], env);
  }

  async add(role: Role): Promise<void> {
    const starting = this.#start(role).then(({ child }) => {
      this.#all.push({ role, handle: new ProcessHandle(child) });
    });
    this.#starting.add(starting);
    await starting.finally(() => this.#starting.delete(starting));
  }

  of(role: Role): ProcessHandle[] {
    return this.#all.filter((s) => s.role === role && s.handle.alive).map((s) => s.handle);
  }
  get handles(): ProcessHandle[] {
    return this.#all.map((s) => s.handle).filter((h) => h.alive);
  }

  /** Services that ended although nobody killed them; there must be none. */
  died(killed: ReadonlySet<ProcessHandle>): string[] {
    return this.#all
      .filter(({ handle }) => !handle.alive && !killed.has(handle))
      .map(
        ({ role, handle }) =>
          `${role} ${handle.pid} ended by itself (${handle.child.signalCode ?? handle.child.exitCode})`,
      );
  }

  /** SIGTERM to all; what is not gone in time is killed, and named. */
  async stop(): Promise<string[]> {
    const stubborn = this.#all.map(async ({ role, handle }) => {
      if (!handle.alive) return [];
      handle.child.kill("SIGTERM");
      const timer = setTimeout(() => handle.child.kill("SIGKILL"), STOP_MS);
      await handle.ended;
      clearTimeout(timer);
      const how = handle.child.signalCode ?? handle.child.exitCode;
      return how === 0 ? [] : [`${role} ${handle.pid} ended with ${how} instead of 0`];
    });
    return (await Promise.all(stubborn)).flat();
  }

  /** Also those that are still starting. */
  async kill(): Promise<void> {
    await Promise.allSettled(this.#starting);
    await Promise.all(this.handles.map((handle) => handle.kill()));
  }
}
