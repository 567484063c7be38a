import { readdirSync, readFileSync } from "node:fs";
import { eventually } from "./eventually.js";
import type { TestRedis } from "./redis.js";

/** Keys that belong to one step: `dfx2:{tag}:<run>:<incarnation>:<step>.<trigger>:…`. */
const STEP_KEY = /^dfx2:\{\d+\}:[^:]+:\d+:\d+\.\d+:/;

/** Per-step keys that would stay for ever: every one must carry a TTL. */
export async function stepKeysWithoutTtl(redis: TestRedis): Promise<string[]> {
  const keys = (await redis.keys("dfx2:*")).filter((key) => STEP_KEY.test(key));
  const ttls = await Promise.all(keys.map((key) => redis.raw.pttl(key)));
  // -1: lives without end; -2: gone since.
  return keys.filter((_, i) => ttls[i] === -1);
}

/** Keys of one run's steps, tombstones left out. */
export async function stepKeys(redis: TestRedis, runBase: string): Promise<string[]> {
  const keys = (await redis.keys(`${runBase}:*`)).filter((key) => STEP_KEY.test(key));
  const buried = await Promise.all(keys.map((key) => (key.endsWith(":status") ? redis.raw.hget(key, "buried") : null)));
  return keys.filter((_, i) => buried[i] !== "1").sort();
}

/** Living child processes of this process, with their command lines. */
export function children(of = process.pid): { pid: number; command: string }[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, "utf8");
        const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        if (Number(parent) !== of || state === "Z") return [];
        return [{ pid: Number(name), command: readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ") }];
      } catch {
        return [];
      }
    });
}

export const alive = (pid: number): boolean => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2)[0] !== "Z";
  } catch {
    return false;
  }
};

/** After a test: no step key without TTL, and no client connection that the test did not close. */
export async function assertNoLeak(redis: TestRedis): Promise<void> {
  const immortal = await stepKeysWithoutTtl(redis);
  if (immortal.length > 0) throw new Error(`step keys without TTL: ${immortal.join(", ")}`);
  await eventually(
    async () => (await redis.connections()).filter((name) => name.startsWith("dataflex-mq:client")).length === 0,
    { what: "the end of every client connection", timeoutMs: 5_000 },
  );
}
