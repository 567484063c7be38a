import { type Effect, EVENTS, type EventName } from "../plan/event-names.js";

interface Entry {
  readonly name: EventName;
  readonly from: number;
  to: number;
}

/** How long after its end an event may still have effects: half-open connections, locks and heartbeats of dead processes must expire. */
const RECOVERY_MS = 30_000;

/** Refusals that the guarantees allow, with what must have happened. */
const EXPLAINED_BY: Readonly<Record<string, readonly Effect[]>> = {
  REDIS_UNREACHABLE: ["unreachable"],
  REDIS_FULL: ["full"],
  REDIS_REFUSED: ["unreachable"],
  NO_BROKER: ["broker", "unreachable", "loss"],
  NO_WORKER: ["worker", "unreachable", "loss"],
  COMPUTE_LOST: ["worker"],
  // A part of the rows came before Redis had the row table back.
  INVALID_INPUT: ["loss"],
  ROWS_CONFLICT: ["loss"],
};
/** How many dead workers make a job poison. */
const DEATHS = 2;

/** What happened when, on the monotonic clock. */
export class Ledger {
  readonly #entries: Entry[] = [];

  /** An event begins; the answer ends it. */
  begin(name: EventName): () => void {
    const entry: Entry = { name, from: performance.now(), to: Number.POSITIVE_INFINITY };
    this.#entries.push(entry);
    return () => {
      entry.to = performance.now();
    };
  }

  get active(): number {
    return this.#entries.filter((e) => e.to === Number.POSITIVE_INFINITY).length;
  }

  count(): Map<EventName, number> {
    const counts = new Map<EventName, number>();
    for (const { name } of this.#entries) counts.set(name, (counts.get(name) ?? 0) + 1);
    return counts;
  }

  /** Whether Redis may have forgotten something that was written after `from`. */
  lostSince(from: number): boolean {
    return this.#felt("loss", from, performance.now()).length > 0;
  }

  /** Whether what happened while a call ran allows it to end with `code`. A patient call outlasts every event, so no TIMEOUT. */
  explains(code: string, from: number): boolean {
    const now = performance.now();
    if (code === "POISON") return this.#felt("worker", from, now).length >= DEATHS;
    return (EXPLAINED_BY[code] ?? []).some((effect) => this.#felt(effect, from, now).length > 0);
  }

  /** The names of what was felt between two moments, for a report. */
  during(from: number): string[] {
    return this.#entries.filter((e) => e.to + RECOVERY_MS >= from).map((e) => e.name);
  }

  #felt(effect: Effect, from: number, to: number): Entry[] {
    return this.#entries.filter(
      (e) =>
        (EVENTS[e.name].effects as readonly Effect[]).includes(effect) && e.from <= to && e.to + RECOVERY_MS >= from,
    );
  }
}
