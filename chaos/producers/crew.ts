import type { SavedState } from "dataflex-mq";
import { GROUP } from "../plan/content.js";
import { type Language, MAX_WAIT_MS, type RunSpec } from "../plan/runs.js";
import type { Target } from "../world/trainers.js";
import type { World } from "../world/world.js";
import { JOIN_MS, joined } from "./join.js";
import { Died, type ProducerProcess, Refused } from "./producer-process.js";
import type { Ask } from "./protocol.js";

/** A call that takes this much longer than its own deadline counts as hanging. */
const GRACE_MS = 30_000;
const CLOSE_MS = 30_000;

/** The owner was killed, or another trainer has taken the run over: it goes on from a checkpoint. */
export class Interrupted extends Error {}

export type AskOwner = <T>(request: Ask, deadlineMs: number) => Promise<T>;

/** The processes of one run: its owner and the producers attached to it. What dies is replaced. */
export class Crew implements Target {
  readonly world: World;
  readonly spec: RunSpec;
  readonly run: string;
  /** Counts the owners so far. */
  life = 0;
  incarnation = 0;
  owner: ProducerProcess | undefined;
  ranks: ProducerProcess[] = [];
  readonly #reviving = new Map<number, Promise<void>>();
  #changing: Promise<void> = Promise.resolve();

  constructor(world: World, spec: RunSpec, run: string) {
    this.world = world;
    this.spec = spec;
    this.run = run;
  }

  async start(): Promise<void> {
    await this.takeOver(this.spec.owner);
    this.ranks = await Promise.all(this.spec.ranks.map((language) => this.#attached(language)));
  }

  /** A new owner in its own process, with a new incarnation, unless one lives already; its ranks join it. */
  takeOver(language: Language): Promise<void> {
    return this.#inTurn(async () => {
      if (!this.owner?.alive) await this.#mount(language);
    }).then(async () => {
      await Promise.all(this.ranks.map((_, n) => this.#rejoined(n)));
    });
  }

  /** Fenced trainers that went on; there must be none. */
  readonly unfenced: string[] = [];

  async usurp(ms: number): Promise<void> {
    await this.#inTurn(async () => {
      const old = this.owner;
      if (!old?.alive) return;
      old.freeze();
      const wake = new Promise<void>((resolve) => setTimeout(resolve, ms));
      await this.#mount(old.language === "ts" ? "py" : "ts");
      await wake;
      old.thaw();
      const answer = await old.ask({ op: "release", step: 0 }, MAX_WAIT_MS).then(
        (word) => String(word),
        (error: unknown) => (error instanceof Refused ? error.code : String(error)),
      );
      // The first call may be answered from Redis alone; the next one must be refused.
      const next = await old.ask({ op: "release", step: 0 }, MAX_WAIT_MS).catch((error: unknown) => error);
      if (!(next instanceof Refused && next.code === "FENCED")) this.unfenced.push(`${answer}, then ${String(next)}`);
      await this.world.kill(old);
    });
  }
  /** The current owner. Calls reject with Interrupted once it ends or another takes its place; Refused; Hung long after `deadlineMs`. */
  asOwner(): AskOwner {
    const { life, owner } = this;
    return async <T>(request: Ask, deadlineMs: number): Promise<T> => {
      if (!owner || life !== this.life) throw new Interrupted();
      try {
        return await owner.ask<T>(request, deadlineMs + GRACE_MS);
      } catch (error) {
        if (error instanceof Died || life !== this.life) throw new Interrupted();
        throw error;
      }
    };
  }

  restore(state: SavedState): Promise<void> {
    return this.asOwner()({ op: "restore_mix_state", pipeline: "mix", state }, MAX_WAIT_MS);
  }

  /** Asks the n-th rank. One that is dead is replaced, one that a new owner left behind attaches again; what it had put is to be put again: Died. */
  async askRank<T>(n: number, request: Ask, deadlineMs: number): Promise<T> {
    try {
      return await this.ranks[n]!.ask<T>(request, deadlineMs + GRACE_MS);
    } catch (error) {
      const behind = error instanceof Refused && (error.code === "FENCED" || error.code === "NOT_MOUNTED");
      if (!(error instanceof Died) && !behind) throw error;
      await this.#rejoined(n);
      throw new Died(`rank ${n} of ${this.run} was replaced`);
    }
  }

  /** Closes every producer. Answers those that failed to close. */
  async finish(): Promise<string[]> {
    const all = [...(this.owner ? [this.owner] : []), ...this.ranks].filter((p) => p.alive);
    const closed = await Promise.allSettled(all.map((p) => p.close(CLOSE_MS)));
    return closed.flatMap((c, i) =>
      c.status === "rejected" ? [`${all[i]!.language} producer of ${this.run}: ${c.reason}`] : [],
    );
  }

  async #mount(language: Language): Promise<void> {
    const request = {
      op: "mount",
      run: this.run,
      dataflex: this.spec.dataflex,
      takeover: this.life > 0,
      group: GROUP,
    } as const;
    const { producer, incarnation } = await joined(this.world, language, "owner", request);
    this.life++;
    this.owner = producer;
    this.incarnation = incarnation;
  }

  async #attached(language: Language): Promise<ProducerProcess> {
    return (await joined(this.world, language, "rank", { op: "attach", run: this.run })).producer;
  }

  #rejoined(n: number): Promise<void> {
    const reviving = this.#reviving.get(n) ?? this.#revive(n).finally(() => this.#reviving.delete(n));
    this.#reviving.set(n, reviving);
    return reviving;
  }

  async #revive(n: number): Promise<void> {
    const old = this.ranks[n]!;
    const again = old.alive && (await old.ask({ op: "attach", run: this.run }, JOIN_MS).then(Boolean, () => false));
    if (again) return;
    if (old.alive) await this.world.kill(old);
    this.ranks[n] = await this.#attached(this.spec.ranks[n]!);
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#changing.then(work);
    this.#changing = turn.catch(() => {});
    return turn;
  }
}
