import { setTimeout as pause } from "node:timers/promises";
import type { EventName } from "../plan/event-names.js";
import type { Random } from "../plan/random.js";
import type { Event } from "./events.js";
import type { ProcessHandle } from "./process-handle.js";
import type { World } from "./world.js";

const HOUR_MS = 3_600_000;

async function replace(role: "broker" | "worker", world: World, random: Random): Promise<void> {
  const victim = random.pick(world.services.of(role));
  if (victim === undefined) return;
  await world.kill(victim);
  await pause(random.int(0, 2_000));
  await world.services.add(role);
}

async function stopFor(handle: ProcessHandle | undefined, ms: number): Promise<void> {
  if (handle === undefined) return;
  handle.freeze();
  await pause(ms);
  handle.thaw();
}

export const processEvents = {
  "broker-kill": (world, random) => replace("broker", world, random),
  "worker-kill": (world, random) => replace("worker", world, random),
  "broker-stop": (world, random) => stopFor(random.pick(world.services.of("broker")), random.int(500, 12_000)),
  "worker-stop": (world, random) => stopFor(random.pick(world.services.of("worker")), random.int(500, 12_000)),
  async "owner-kill"(world, random, trainers) {
    const owner = random.pick(trainers).owner;
    if (owner) await world.kill(owner);
  },
  "owner-stop": (_, random, trainers) => stopFor(random.pick(trainers).owner, random.int(200, 6_000)),
  async "owner-usurp"(_, random, trainers) {
    await random.pick(trainers).usurp(random.int(200, 4_000));
  },
  async "rank-kill"(world, random, trainers) {
    const rank = random.pick(random.pick(trainers).ranks);
    if (rank) await world.kill(rank);
  },
  "rank-stop": (_, random, trainers) => stopFor(random.pick(random.pick(trainers).ranks), random.int(200, 6_000)),
  async "clock-jump"(world, random, trainers) {
    const all = [...world.services.handles, ...trainers.flatMap((t) => (t.owner ? [t.owner, ...t.ranks] : t.ranks))];
    world.moveClock(random.pick(all), random.int(-HOUR_MS, HOUR_MS));
  },
} satisfies Partial<Record<EventName, Event>>;
