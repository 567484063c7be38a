import { EVENT_NAMES, type EventName, PUT_NAMES, type PutName } from "./event-names.js";
import { Random } from "./random.js";

/** An event of a round: it begins `delayMs` after the round, and everything it chooses it takes from `seed`. */
export interface Planned {
  readonly name: EventName;
  readonly delayMs: number;
  readonly seed: number;
}

/** Share of rounds in which something happens. */
const SHARE = 0.5;

/** The events of every round. The same seed gives the same ones, whatever comes of them. */
export function schedule(seed: number, rounds: number, events: readonly EventName[]): Planned[][] {
  const random = new Random(seed, "schedule");
  // Dealt like cards, so that a short run meets many kinds.
  let deck: EventName[] = [];
  const draw = (): EventName => {
    if (deck.length === 0) deck = random.shuffled(events);
    return deck.pop()!;
  };
  return Array.from({ length: rounds }, () => {
    const count = events.length === 0 || !random.chance(SHARE) ? 0 : random.chance(0.25) ? 2 : 1;
    return Array.from({ length: count }, () => ({
      name: draw(),
      delayMs: random.chance(0.3) ? random.int(0, 400) : random.int(0, 40),
      seed: random.int(0, 2 ** 31),
    }));
  });
}

/** What a session does: to the system, and to its steps. */
export interface Chosen {
  readonly events: readonly EventName[];
  readonly puts: ReadonlySet<PutName>;
}

/** `all`, `none`, or names and beginnings of names (`redis-` for all of Redis'). @throws Error naming what is no event. */
export function parseEvents(text: string): Chosen {
  const words = text === "all" ? [""] : text === "none" ? [] : text.split(",").map((word) => word.trim());
  for (const word of words) {
    if (![...EVENT_NAMES, ...PUT_NAMES].some((name) => name.startsWith(word)))
      throw new Error(`"${word}" is no event; there are: ${[...EVENT_NAMES, ...PUT_NAMES].join(", ")}`);
  }
  const chosen = (name: string): boolean => words.some((word) => name.startsWith(word));
  return { events: EVENT_NAMES.filter(chosen), puts: new Set(PUT_NAMES.filter(chosen)) };
}
