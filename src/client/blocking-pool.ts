import type { Redis } from "ioredis";
import { connect } from "../redis/connect.js";
import { errorOf } from "../sentences.js";

/** Idle connections kept for the next wait; a burst of waits opens more, which are closed afterwards. */
const KEEP = 4;

/** Connections for blocking reads: each wait has its own, so that a wait never delays a put. */
export class BlockingPool {
  readonly #url: string;
  readonly #idle: Redis[] = [];
  readonly #all = new Set<Redis>();
  #closed = false;

  constructor(url: string) {
    this.#url = url;
  }

  async use<T>(work: (redis: Redis) => Promise<T>): Promise<T> {
    const redis = this.#idle.pop() ?? (await this.#open());
    try {
      return await work(redis);
    } finally {
      if (this.#closed || this.#idle.length >= KEEP) this.#drop(redis);
      else this.#idle.push(redis);
    }
  }

  async #open(): Promise<Redis> {
    const redis = await connect(this.#url, "blocking", { name: "client-wait" });
    if (this.#closed) {
      redis.disconnect();
      throw errorOf("CLOSED.client", {});
    }
    this.#all.add(redis);
    return redis;
  }

  #drop(redis: Redis): void {
    this.#all.delete(redis);
    redis.disconnect();
  }

  /** The server is no master any more: waits go on with another one. */
  reconnect(): void {
    for (const redis of this.#all) redis.disconnect(true);
  }

  close(): void {
    this.#closed = true;
    for (const redis of this.#all) redis.disconnect();
    this.#all.clear();
    this.#idle.length = 0;
  }
}
