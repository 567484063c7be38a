import type { Redis } from "ioredis";
import { DataflexError } from "../errors.js";

/** BullMQ 6 needs 6.2; streams' lag and functions used here exist from there on. */
const MIN_VERSION = [6, 2] as const;

export interface ServerFacts {
  readonly version: string;
  readonly runId: string;
  /** Undefined where the server hides it (hosted Redis). */
  readonly policy: string | undefined;
  readonly usedBytes: number;
  /** 0: no limit. */
  readonly maxBytes: number;
  /** Writes are logged, so that a restart forgets a second at most. */
  readonly appendOnly: boolean;
}

export async function serverFacts(redis: Redis): Promise<ServerFacts> {
  const info = await redis.info();
  const field = (name: string): string | undefined => new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(info)?.[1];
  return {
    version: field("redis_version") ?? "0",
    runId: field("run_id") ?? "",
    policy: field("maxmemory_policy"),
    usedBytes: Number(field("used_memory") ?? Number.NaN),
    maxBytes: Number(field("maxmemory") ?? Number.NaN),
    appendOnly: field("aof_enabled") === "1",
  };
}

export function isNewEnough({ version }: ServerFacts): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > MIN_VERSION[0] || (major === MIN_VERSION[0] && minor >= MIN_VERSION[1]);
}
/** A hidden policy is taken for the right one: the hosts that hide it set it themselves. */
export function keepsEverything({ policy }: ServerFacts): boolean {
  return policy === undefined || policy === "noeviction";
}

/**
 * Refuses a server that could lose or evict a step. Locks and steps carry TTLs, so volatile policies evict them as well.
 * Errors: REDIS_CONFIG naming the setting and the command that fixes it.
 */
export async function checkServer(redis: Redis): Promise<ServerFacts> {
  const facts = await serverFacts(redis);
  if (!isNewEnough(facts)) {
    throw new DataflexError(
      "REDIS_CONFIG",
      `Redis ${facts.version} is too old: ${MIN_VERSION.join(".")} or newer is needed`,
      { ...facts },
    );
  }
  if (!keepsEverything(facts)) {
    throw new DataflexError(
      "REDIS_CONFIG",
      `Redis may evict steps and job locks: maxmemory-policy is "${facts.policy}", needs "noeviction". Fix it: redis-cli CONFIG SET maxmemory-policy noeviction`,
      { ...facts },
    );
  }
  return facts;
}
