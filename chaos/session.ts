import { setTimeout as pause } from "node:timers/promises";
import { leftOver } from "./check/left-over.js";
import { Tally } from "./check/tally.js";
import { Random } from "./plan/random.js";
import { RUNS } from "./plan/runs.js";
import { type Chosen, type Planned, schedule } from "./plan/schedule.js";
import { Trainer } from "./trainer.js";
import { happen } from "./world/events.js";
import type { World } from "./world/world.js";

/** Events at work at one time: more would only wait for each other. */
const AT_ONCE = 3;

export interface SessionOptions {
  readonly steps: number;
  readonly seed: number;
  readonly chosen: Chosen;
}

/** Trains the runs of the harness in a world to which the schedule happens. */
export class Session {
  readonly tally = new Tally();
  readonly #world: World;
  readonly #options: SessionOptions;
  readonly #trainers: Trainer[];
  readonly #happening = new Set<Promise<void>>();

  constructor(world: World, options: SessionOptions) {
    this.#world = world;
    this.#options = options;
    this.#trainers = RUNS.map((spec) => new Trainer(world, spec, options, this.tally));
  }

  async run(onProgress: (line: string) => void): Promise<void> {
    const { steps, seed, chosen } = this.#options;
    await Promise.all(this.#trainers.map((trainer) => trainer.start()));
    const aRound = RUNS.reduce((n, run) => n + run.inFlight, 0);
    const rounds = schedule(seed, Math.ceil(steps / aRound), chosen.events);
    for (const [i, planned] of rounds.entries()) {
      for (const event of planned) await this.#let(event);
      await Promise.all(this.#trainers.map((trainer) => trainer.train((i + 1) * trainer.spec.inFlight)));
      onProgress(`round ${i + 1}/${rounds.length} · ${this.tally.progress()}`);
    }
    await Promise.all(this.#happening);
    await this.#end();
  }

  /** Begins an event, once there is room for it. */
  async #let({ name, delayMs, seed }: Planned): Promise<void> {
    while (this.#happening.size >= AT_ONCE) await Promise.race(this.#happening);
    const event = (async () => {
      await pause(delayMs);
      const over = this.#world.ledger.begin(name);
      await happen(name, this.#world, new Random(seed), this.#trainers);
      over();
    })();
    const tracked = event.finally(() => this.#happening.delete(tracked));
    this.#happening.add(tracked);
    tracked.catch(() => {});
  }

  /** After every step was released and every producer has closed: what Redis still holds was left over. */
  async #end(): Promise<void> {
    for (const key of await leftOver(this.#world.redis.raw, this.#trainers)) this.tally.add("left over", key);
    for (const trainer of this.#trainers) {
      for (const word of trainer.unfenced)
        this.tally.add("wrong", `a fenced trainer of ${trainer.run} went on: ${word}`);
      for (const word of await trainer.finish()) this.tally.add("left over", word);
    }
  }
}
