import type { Redis } from "ioredis";
import { isRedisError } from "../../redis/connect.js";
import type { Check } from "../../redis/finding.js";
import { readFitness } from "../../redis/fitness.js";
import { brokerPresence, type WorkerBeat, workerPresence } from "../../redis/presence.js";
import { VERSION } from "../../version.js";

/** Above it, round trips to Redis make up a good part of every step. */
const SLOW_MS = 10;
const PINGS = 5;

/** What is wrong with a Redis and with the services that live on it. */
export async function examine(redis: Redis): Promise<Check[]> {
  const { checks } = await readFitness(redis, "all");
  return [...checks.map(alsoInFile), await roundTrip(redis), ...(await services(redis))];
}

/** What CONFIG SET sets, a restart forgets. */
function alsoInFile(check: Check): Check {
  if (!check.fix?.startsWith("redis-cli CONFIG SET ")) return check;
  return { ...check, fix: `${check.fix}   (and in redis.conf)` };
}

async function roundTrip(redis: Redis): Promise<Check> {
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

/** Where a server does not answer about them, as a node of a cluster does not, an earlier finding says why. */
async function services(redis: Redis): Promise<Check[]> {
  try {
    return await livingServices(redis);
  } catch (error) {
    if (!isRedisError(error)) throw error;
    const text = `not looked at: ${(error as Error).message}`;
    return [{ name: "services", level: "note", text }];
  }
}

async function livingServices(redis: Redis): Promise<Check[]> {
  const [brokers, workers] = await Promise.all([brokerPresence.alive(redis), workerPresence.alive(redis)]);
  const found: Check[] = [
    living("brokers", brokers.length, "dataflex-mq broker"),
    living("workers", workers.length, "dataflex-mq worker"),
  ];
  found.push(...workers.flatMap(pythonFindings));
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

/** What is wrong with a worker's Python processes; where they compute if nothing is. */
function pythonFindings({ id, host, python, unready }: WorkerBeat): Check[] {
  if (python === undefined) return [];
  const name = "python";
  const who = `worker ${id.slice(0, 8)} on ${host}`;
  const down = python.slots.filter(({ up }) => !up).length;
  if (down > 0) {
    const text = `${who}: ${down} of ${python.slots.length} Python processes are down${unready === undefined ? "" : `: ${unready}`}`;
    return [{ name, level: "warning", text, fix: "read the worker's log, correct the plugin, restart the worker" }];
  }
  const reason = python.slots.find((slot) => slot.reason !== "")?.reason;
  if (reason !== undefined) {
    const text = `${who}: a GPU is there and is not used: ${reason}`;
    return [
      { name, level: "warning", text, fix: "install a torch built for CUDA, or start the worker with --device cpu" },
    ];
  }
  const devices = [
    ...new Set(python.slots.map(({ device, model }) => (model === "" ? device : `${device} (${model})`))),
  ];
  return [{ name, level: "ok", text: `${who}: Python ${python.python} on ${devices.join(", ")}` }];
}

function living(name: string, count: number, line: string): Check {
  if (count > 0) return { name, level: "ok", text: `${count} alive` };
  return { name, level: "warning", text: "none lives on this Redis: mounts wait", fix: line };
}
