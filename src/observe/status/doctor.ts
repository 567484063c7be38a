import type { Redis } from "ioredis";
import { isRedisError } from "../../redis/connect.js";
import { connectionFacts } from "../../redis/connection-facts.js";
import { brokerPresence, workerPresence } from "../../redis/presence.js";
import { VERSION } from "../../version.js";
import { connectionFindings } from "./connection-findings.js";
import { type Finding, parseInfo, serverFindings } from "./findings.js";

/** Above it every step pays for the way to Redis several times over. */
const SLOW_MS = 10;
const PINGS = 5;

/** What is wrong with a Redis and with the services that live on it. */
export async function examine(redis: Redis): Promise<Finding[]> {
  const [info, config] = await Promise.all([redis.info(), readConfig(redis)]);
  return [
    ...serverFindings({ info: parseInfo(info), config }),
    ...connectionFindings(connectionFacts(redis), config),
    await roundTrip(redis),
    ...(await services(redis)),
  ];
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

async function roundTrip(redis: Redis): Promise<Finding> {
  let best = Number.POSITIVE_INFINITY;
  for (let i = 0; i < PINGS; i++) {
    const asked = performance.now();
    await redis.ping();
    best = Math.min(best, performance.now() - asked);
  }
  const text = `${best.toFixed(2)} ms there and back`;
  if (best < SLOW_MS) return { name: "round trip", level: "ok", text };
  return {
    name: "round trip",
    level: "warning",
    text: `${text}: every step pays it several times`,
    fix: "run Redis in the trainer's network",
  };
}

/** A server that answers nothing about them, like a node of a cluster, has its reason among the findings before. */
async function services(redis: Redis): Promise<Finding[]> {
  try {
    return await livingServices(redis);
  } catch (error) {
    if (!isRedisError(error)) throw error;
    const text = `not looked at: ${(error as Error).message}`;
    return [{ name: "services", level: "note", text }];
  }
}

async function livingServices(redis: Redis): Promise<Finding[]> {
  const [brokers, workers] = await Promise.all([brokerPresence.alive(redis), workerPresence.alive(redis)]);
  const found: Finding[] = [
    living("brokers", brokers.length, "dataflex-mq broker"),
    living("workers", workers.length, "dataflex-mq worker"),
  ];
  for (const [role, beats] of [
    ["broker", brokers],
    ["worker", workers],
  ] as const) {
    for (const { id, host, version } of beats) {
      if (version === VERSION) continue;
      const text = `${role} ${id.slice(0, 8)} on ${host} runs ${version}, this command is ${VERSION}`;
      found.push({
        name: "versions",
        level: "warning",
        text,
        fix: `npm install dataflex-mq@${VERSION}   on ${host}, and restart it`,
      });
    }
  }
  return found;
}

function living(name: string, count: number, line: string): Finding {
  if (count > 0) return { name, level: "ok", text: `${count} alive` };
  return { name, level: "warning", text: "none lives on this Redis: mounts wait", fix: line };
}
