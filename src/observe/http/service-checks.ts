import type { Redis } from "ioredis";
import { type Check, fulfilsWithin, Pulse, type WatchedLoop, type WatchedService } from "../../lifecycle.js";
import type { ServiceChecks } from "./checks.js";

/** An answer later than this makes the service unready: a trainer's mount would not wait long either. */
const PING_MS = 1_000;
/** The process is considered dead after this; above the longest pause that garbage collection or a laptop's sleep may make. */
const EVENT_LOOP_MS = 15_000;
/** A loop waits for work in slices of about 2 s; three missed rounds of its guard (4 s) mean that it is stuck. */
const LOOP_MS = 30_000;
const TICK_MS = 1_000;

/**
 * Health: the process's event loop turns, and so does each of its loops unless Redis is away. Readiness: Redis answers on the command
 * connection, every blocking connection stands (a silent one is replaced within seconds by its own guard), the service is not stopping.
 * Redis down is therefore "not ready, still alive": reconnecting is the service's own job. `loopMs`: a loop that has been stuck for
 * longer, although Redis answered all the while, is dead.
 */
export function serviceChecks(watch: () => WatchedService, loopMs = LOOP_MS): ServiceChecks {
  const redisThere = new Pulse();
  const eventLoop = eventLoopPulse();
  // While Redis is away loops stop, and need a moment afterwards; health may not have been asked for meanwhile.
  watch().redis?.on("ready", () => redisThere.beat());
  return {
    async health() {
      const service = watch();
      const { age } = eventLoop;
      const checks = [check("event_loop", age < EVENT_LOOP_MS, `last turned ${Math.round(age)} ms ago`)];
      const answer = await pingCheck(service.redis);
      if (!answer.ok) redisThere.beat();
      for (const loop of service.loops) checks.push(loopCheck(loop, answer, redisThere.age, loopMs));
      return checks;
    },
    async ready() {
      const service = watch();
      return [
        check("not_stopping", !service.stopping, service.stopping ? "the service is stopping" : "running"),
        await pingCheck(service.redis),
        blockingCheck(service.blocking),
        ...service.more,
      ];
    },
  };
}

let turning: Pulse | undefined;

/** One for the process, however many services it holds; its timer keeps no process alive. */
function eventLoopPulse(): Pulse {
  if (turning) return turning;
  const pulse = new Pulse();
  setInterval(() => pulse.beat(), TICK_MS).unref();
  turning = pulse;
  return pulse;
}

const check = (name: string, ok: boolean, reason: string): Check => ({ name, ok, reason });

/** A loop that is stuck although Redis has answered for just as long has work and does nothing with it. */
function loopCheck(loop: WatchedLoop, answer: Check, redisThereMs: number, loopMs: number): Check {
  const name = `loop_${loop.name}`;
  if (!answer.ok) return check(name, true, `waits for Redis: ${answer.reason}`);
  if (loop.resting) return check(name, true, "every slot is busy");
  const still = Math.min(loop.age, redisThereMs);
  return check(name, still < loopMs, `last turned ${Math.round(loop.age)} ms ago`);
}

async function pingCheck(redis: Redis | undefined): Promise<Check> {
  if (redis === undefined) return check("redis_command", false, "not connected yet");
  if (redis.status !== "ready") return check("redis_command", false, `the command connection is ${redis.status}`);
  const started = performance.now();
  const ok = await fulfilsWithin(redis.ping(), PING_MS);
  const took = Math.round(performance.now() - started);
  return check("redis_command", ok, ok ? `answered in ${took} ms` : `no answer to PING within ${PING_MS} ms`);
}

function blockingCheck(blocking: readonly Redis[]): Check {
  const broken = blocking.filter((b) => b.status !== "ready");
  if (blocking.length === 0) return check("redis_blocking", false, "not connected yet");
  if (broken.length === 0) return check("redis_blocking", true, `${blocking.length} connected`);
  const states = [...new Set(broken.map((b) => b.status))].join(", ");
  return check("redis_blocking", false, `${broken.length} of ${blocking.length} blocking connections: ${states}`);
}
