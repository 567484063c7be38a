import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { startPrivateRedis } from "../../src/redis/private-server.js";

export interface Fleet {
  readonly url: string;
  readonly brokers: readonly ChildProcess[];
  readonly workers: readonly ChildProcess[];
  stop(): Promise<void>;
}

/** A private Redis with brokers and workers of the build, each in a process of its own, all ready. */
export async function startFleet(size: { brokers: number; workers: number }): Promise<Fleet> {
  const redis = await startPrivateRedis();
  const roles = [...Array<string>(size.brokers).fill("broker"), ...Array<string>(size.workers).fill("worker")];
  const started = await Promise.allSettled(roles.map((role) => startRole(role, redis.url)));
  const children = started.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  const stop = async (): Promise<void> => {
    await Promise.all(children.map(stopChild));
    await redis.stop();
  };
  const failed = started.find((outcome) => outcome.status === "rejected");
  if (failed !== undefined) {
    await stop();
    throw failed.reason;
  }
  return { url: redis.url, brokers: children.slice(0, size.brokers), workers: children.slice(size.brokers), stop };
}

async function startRole(role: string, url: string): Promise<ChildProcess> {
  const entry = fileURLToPath(new URL(`../../dist/workers/${role}.js`, import.meta.url));
  const child = fork(entry, ["--redis", url], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    env: { ...process.env, DFX_LOG: "error" },
  });
  const [message] = (await Promise.race([once(child, "message"), once(child, "exit")])) as [unknown];
  if (typeof message === "object" && message !== null && "role" in message) return child;
  throw new Error(`the ${role} did not start: ${JSON.stringify(message)}`);
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

/** Whether a process of that id lives. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
