import type { Language } from "../plan/runs.js";
import type { World } from "../world/world.js";
import { Hung, type ProducerProcess } from "./producer-process.js";
import type { Ask } from "./protocol.js";

/** A mount or an attach, with the start of its process; both wait by themselves until a damaged system works again. */
export const JOIN_MS = 120_000;
/** How often it is tried again. */
const TRIES = 6;

/** A new producer that has joined its run: `request` mounts or attaches. Errors: the last refusal; Hung. */
export async function joined(
  world: World,
  language: Language,
  side: "owner" | "rank",
  request: Ask,
): Promise<{ producer: ProducerProcess; incarnation: number }> {
  for (let left = TRIES; ; left--) {
    let producer: ProducerProcess | undefined;
    try {
      producer = await world.producer(language, side);
      const { incarnation } = await producer.ask<{ incarnation: number }>(request, JOIN_MS);
      return { producer, incarnation };
    } catch (error) {
      if (producer) await world.kill(producer);
      if (left === 0 || world.closed || error instanceof Hung) throw error;
    }
  }
}
