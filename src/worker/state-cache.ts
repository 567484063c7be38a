import type { Redis } from "ioredis";
import type { RawState } from "../protocol/saved-state.js";
import { type KnownState, rawState, readState } from "../redis/read-state.js";

/** All states together; the one read longest ago goes first. */
const MAX_BYTES = 256 << 20;

/** States of pipelines as this worker last read them: the next job reads only what was added since. */
export class StateCache {
  readonly #states = new Map<string, { readonly state: KnownState; readonly bytes: number }>();
  readonly #most: number;
  #bytes = 0;

  constructor(most = MAX_BYTES) {
    this.#most = most;
  }

  async read(redis: Redis, run: string, pipeline: string): Promise<RawState> {
    const name = JSON.stringify([run, pipeline]);
    const state = await readState(redis, run, pipeline, this.#states.get(name)?.state);
    this.#keep(name, state);
    return rawState(state);
  }

  #keep(name: string, state: KnownState): void {
    this.#bytes -= this.#states.get(name)?.bytes ?? 0;
    this.#states.delete(name);
    let bytes = 0;
    for (const entry of state.entries.values()) bytes += entry.byteLength;
    this.#states.set(name, { state, bytes });
    this.#bytes += bytes;
    for (const [oldest, one] of this.#states) {
      if (this.#bytes <= this.#most) return;
      this.#states.delete(oldest);
      this.#bytes -= one.bytes;
    }
  }
}
