import { setTimeout as pause } from "node:timers/promises";
import type { EventName } from "../plan/event-names.js";
import type { Random } from "../plan/random.js";
import { processEvents } from "./process-events.js";
import type { Trainers } from "./trainers.js";
import { SIDES, type World } from "./world.js";

/** Does one thing to the system and resolves when it is over. */
export type Event = (world: World, random: Random, trainers: Trainers) => Promise<void>;

const redisEvents = {
  async "redis-kill"(world, random) {
    world.unplug();
    await world.redis.kill();
    await pause(random.int(100, 3_000));
    await world.redis.back();
    world.rewire(true);
  },
  async "redis-power"(world, random) {
    await world.redis.losePower(random.int(200, 1_000));
    world.unplug();
    await pause(random.int(100, 2_000));
    await world.redis.back();
    world.rewire(true);
  },
  async "redis-fresh"(world, random) {
    world.unplug();
    await world.redis.kill();
    await pause(random.int(100, 3_000));
    await world.redis.fresh();
    world.rewire(true);
  },
  async "redis-flush"(world) {
    await world.redis.raw.flushall();
  },
  async "redis-promote"(world, random) {
    const old = await world.redis.promote(random.int(50, 1_000));
    world.unplug();
    await world.redis.retire(old);
    await pause(random.int(0, 1_000));
    world.rewire(true);
  },
  async "redis-demote"(world, random) {
    const old = await world.redis.promote(random.int(50, 1_000));
    await world.redis.demote(old);
    world.rewire(false);
    await pause(random.int(3_000, 8_000));
    await world.redis.retire(old);
  },
  async "redis-freeze"(world, random) {
    world.redis.signal("SIGSTOP");
    await pause(random.int(200, 6_000));
    world.redis.signal("SIGCONT");
  },
  async "redis-full"(world, random) {
    await world.redis.raw.config("SET", "maxmemory", "1mb");
    await pause(random.int(200, 3_000));
    await world.redis.raw.config("SET", "maxmemory", "0");
  },
  async "client-kill"(world) {
    await world.redis.raw.call("CLIENT", "KILL", "TYPE", "NORMAL", "SKIPME", "YES");
  },
  async "client-pause"(world, random) {
    const ms = random.int(200, 3_000);
    await world.redis.raw.call("CLIENT", "PAUSE", String(ms), "ALL");
    await pause(ms);
  },
} satisfies Partial<Record<EventName, Event>>;

const wireEvents = {
  async "wire-cut"(world, random) {
    const wire = world.wires[random.pick(SIDES)];
    wire.down();
    await pause(random.chance(0.5) ? 0 : random.int(100, 2_000));
    wire.up(world.redis.url);
  },
  async "wire-lossy"(world, random) {
    const wire = world.wires[random.pick(SIDES)];
    wire.cutAtRandom(0.05, random.int(1, 1_000_000));
    await pause(random.int(500, 3_000));
    wire.cutAtRandom(0);
  },
  async "wire-half-open"(world, random) {
    world.wires[random.pick(SIDES)].freeze();
  },
  async "wire-slow"(world, random) {
    const wire = world.wires[random.pick(SIDES)];
    wire.slow(random.int(20, 150));
    await pause(random.int(500, 3_000));
    wire.slow(0);
  },
} satisfies Partial<Record<EventName, Event>>;

/** Every event by its name. Those that replace or stop Redis never overlap. */
const ALL: Readonly<Record<EventName, Event>> = { ...redisEvents, ...wireEvents, ...processEvents };

let redisBusy: Promise<unknown> = Promise.resolve();

export async function happen(name: EventName, world: World, random: Random, trainers: Trainers): Promise<void> {
  if (!(name in redisEvents) && !(name in wireEvents)) return ALL[name](world, random, trainers);
  const turn = redisBusy.catch(() => {}).then(() => ALL[name](world, random, trainers));
  redisBusy = turn;
  await turn;
}
