import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { DataflexError, type Failure } from "../../errors.js";
import { ReleaseStack, within } from "../../lifecycle.js";
import type { OwnComponents } from "./own-components.js";
import type { Ready } from "./run-service.js";
import { argvOf } from "./service-options.js";

export type ServiceRole = "broker" | "worker";

export interface ServiceProcess {
  readonly role: ServiceRole;
  readonly pid: number;
  readonly child: ChildProcess;
  /** What the process said when it was ready. */
  readonly ready: Ready;
  /** Resolves when the process is gone, with how it ended. */
  readonly ended: Promise<string>;
  /** SIGTERM, then SIGKILL after `graceMs`; resolves when the process is gone. */
  stop(graceMs?: number): Promise<void>;
}

/** A process that dies at its start is noticed at once; this limit is for one that hangs, and must not be reached on a busy machine. */
const START_MS = 120_000;
const STOP_MS = 35_000;

/** The service entry points of the built package. */
const entryOf = (role: ServiceRole): string => fileURLToPath(new URL(`../../../workers/${role}.js`, import.meta.url));

/**
 * Starts a broker or worker in a process of its own and waits until it is ready. The process ends when this one ends, however it
 * ends (its IPC channel closes). Errors: the service's own (BACKEND, REDIS_UNREACHABLE …); INTERNAL when it dies at start.
 */
export function spawnService(
  role: ServiceRole,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<ServiceProcess> {
  const child = fork(entryOf(role), args, {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    // Without this process's own flags: a service is the same whatever starts it.
    execArgv: [],
    env: { ...process.env, DFX_LOG: process.env.DFX_LOG ?? "error", ...env },
  });
  const ended = new Promise<string>((resolve) =>
    child.once("exit", (code, signal) => resolve(signal ?? `exit ${code}`)),
  );
  const ready = new Promise<ServiceProcess>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) =>
      reject(new DataflexError("INTERNAL", `the ${role} ended while it started (exit ${code ?? signal})`)),
    );
    child.on("message", (message: Ready | { failure: Failure }) => {
      if ("failure" in message) return reject(DataflexError.fromFailure(message.failure));
      const stop = (graceMs = STOP_MS): Promise<void> => stopChild(child, ended, graceMs);
      resolve({ role, pid: child.pid ?? 0, child, ready: message, ended, stop });
    });
  });
  return within(START_MS, ready, () => {
    child.kill("SIGKILL");
    throw new DataflexError("INTERNAL", `the ${role} was not ready within ${START_MS} ms`);
  });
}

async function stopChild(child: ChildProcess, ended: Promise<unknown>, graceMs: number): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const timer = setTimeout(() => child.kill("SIGKILL"), graceMs);
  child.kill("SIGTERM");
  await ended;
  clearTimeout(timer);
}

export interface ServicesOptions {
  readonly redisUrl: string;
  readonly brokers?: number;
  readonly workers?: number;
  readonly components?: OwnComponents;
  readonly slots?: number;
  readonly backend?: string;
}

export interface Services {
  readonly processes: readonly ServiceProcess[];
  stop(): Promise<void>;
}

/** Brokers and workers, each in a process of its own, all ready. When one fails to start, the others are stopped. */
export async function startServices(o: ServicesOptions): Promise<Services> {
  const { redisUrl, components, slots, backend, brokers = 1, workers = 1 } = o;
  // The address may contain a password: any user can see a command line, but only the owner an environment.
  const env = { DFX_REDIS_URL: redisUrl };
  // Somebody who edits a plugin wants to see that it was reloaded.
  const log = components?.watch === true && !process.env.DFX_LOG ? { DFX_LOG: "warn" } : {};
  const started = await Promise.allSettled([
    ...Array.from({ length: brokers }, () => spawnService("broker", [], env)),
    ...Array.from({ length: workers }, () =>
      spawnService("worker", argvOf({ ...components, slots, backend }), { ...env, ...log }),
    ),
  ]);
  const stack = new ReleaseStack();
  const processes: ServiceProcess[] = [];
  for (const s of started) if (s.status === "fulfilled") processes.push(s.value);
  stack.push(() => Promise.all(processes.map((p) => p.stop())));
  const failed = started.find((s) => s.status === "rejected");
  if (failed) {
    await stack.release();
    throw failed.reason;
  }
  return { processes, stop: () => stack.release() };
}
