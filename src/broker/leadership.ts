import type { Redis } from "ioredis";
import { every } from "../lifecycle.js";
import { type Logger, throttledLog } from "../log.js";
import { HEARTBEAT_MS, LEASE_MS } from "../redis/keys.js";
import { leaveLease, takeLease } from "../redis/scripts/lead.js";

/**
 * The lease that makes one broker the leader: the one that exports what all share. Renewed with every heartbeat; when its holder
 * dies another takes it within LEASE_MS + HEARTBEAT_MS. A holder that cannot renew it stops leading by its own clock before the
 * lease ends on the server's, since it counts from before it asked.
 */
export class Leadership {
  readonly #redis: Redis;
  readonly #id: string;
  readonly #log: Logger;
  #heldUntil = 0;
  #reign = 0;
  #stopTicks: (() => Promise<void>) | undefined;
  #waiters: (() => void)[] = [];

  constructor(redis: Redis, id: string, log: Logger) {
    this.#redis = redis;
    this.#id = id;
    this.#log = log;
  }

  get leading(): boolean {
    return performance.now() < this.#heldUntil;
  }
  /** Grows each time the lease is newly taken: another broker may have led in between. 0 before the first time. */
  get reign(): number {
    return this.#reign;
  }

  /** Competes for the lead from now on. */
  start(): void {
    const onError = throttledLog((facts) => this.#log.warn(facts, "the leader's lease"));
    this.#stopTicks ??= every(HEARTBEAT_MS, () => this.stand(), onError);
    this.stand().catch(onError);
  }

  /** Asks for the lease once, or renews it. */
  async stand(): Promise<void> {
    const asked = performance.now();
    try {
      const word = await takeLease(this.#redis, this.#id);
      if (word === "NEW") this.#reign++;
      this.#heldUntil = word === "OTHER" ? 0 : asked + LEASE_MS;
    } finally {
      for (const wake of this.#waiters.splice(0)) wake();
    }
  }

  /** Resolves when the lease was requested again, or at `signal`. */
  nextStand(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const done = (): void => {
        signal.removeEventListener("abort", done);
        resolve();
      };
      signal.addEventListener("abort", done, { once: true });
      this.#waiters.push(done);
    });
  }

  /** Gives the lease back, so that another broker need not wait until it expires. */
  async stop(): Promise<void> {
    await this.#stopTicks?.();
    this.#heldUntil = 0;
    if (this.#reign > 0 && this.#redis.status === "ready") await leaveLease(this.#redis, this.#id);
  }
}
