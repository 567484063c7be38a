import type { Redis } from "ioredis";
import { DataflexError } from "../errors.js";
import { isRedisError } from "./connect.js";
import { connectionChecks } from "./connection-checks.js";
import { connectionFacts } from "./connection-facts.js";
import type { Check } from "./finding.js";
import { memoryOf, type ServerSettings, serverChecks } from "./server-checks.js";

/** A server that fails these could lose or evict a step: no service starts on it. Locks and steps carry TTLs, which `volatile-*` evicts too. */
const REQUIRED: ReadonlySet<string> = new Set(["version", "maxmemory-policy"]);

/** What is known about a server and the connection to it. */
export interface Fitness {
  readonly version: string;
  /** Bytes; `max` 0: no limit; NaN where the server hides it. */
  readonly memory: { readonly used: number; readonly max: number };
  readonly checks: readonly Check[];
}

/** From INFO alone, or with every setting of CONFIG as well. A hidden setting is judged by what INFO says. */
export async function readFitness(redis: Redis, what: "info" | "all" = "info"): Promise<Fitness> {
  const [text, config] = await Promise.all([redis.info(), what === "all" ? readConfig(redis) : undefined]);
  const settings: ServerSettings = { info: parseInfo(text), config };
  const checks = [...serverChecks(settings), ...connectionChecks(connectionFacts(redis), config)];
  if (what === "all" && !config) checks.push(HIDDEN);
  return { version: settings.info.get("redis_version") ?? "0", memory: memoryOf(settings), checks };
}

const HIDDEN: Check = {
  name: "settings",
  level: "note",
  text: "the server hides CONFIG: settings that INFO does not show were not checked",
  fix: "ask the host for maxmemory-policy noeviction and timeout 0",
};

/** Refuses a server that could lose or evict a step. Errors: REDIS_CONFIG naming the setting and the command that fixes it. */
export async function checkServer(redis: Redis): Promise<void> {
  const { version, checks } = await readFitness(redis);
  const failed = checks.find(({ name, level }) => REQUIRED.has(name) && level === "critical");
  if (failed) throw new DataflexError("REDIS_CONFIG", `${failed.text}. Fix it: ${failed.fix}`, { ...failed, version });
}

export function parseInfo(text: string): ReadonlyMap<string, string> {
  const lines = text.split(/\r?\n/).filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1)]));
}

async function readConfig(redis: Redis): Promise<ReadonlyMap<string, string> | undefined> {
  try {
    const answer = (await redis.config("GET", "*")) as string[] | Record<string, string> | Map<string, string>;
    if (answer instanceof Map) return answer;
    if (!Array.isArray(answer)) return new Map(Object.entries(answer));
    const pairs = new Map<string, string>();
    for (let i = 0; i + 1 < answer.length; i += 2) pairs.set(answer[i]!, answer[i + 1]!);
    return pairs;
  } catch (error) {
    if (isRedisError(error)) return undefined;
    throw error;
  }
}
