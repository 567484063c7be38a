import { performance } from "node:perf_hooks";

/** Remembers when a loop last turned, on the monotonic clock. */
export class Pulse {
  #at = performance.now();

  beat(): void {
    this.#at = performance.now();
  }
  /** Milliseconds since the last beat. */
  get age(): number {
    return performance.now() - this.#at;
  }
}
