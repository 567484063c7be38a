import { setTimeout as setTimer } from "node:timers/promises";
import type { Redis } from "ioredis";

/**
 * Code that opens a resource pushes its closer. `release` runs them last-in first-out, once, goes on after an error and throws the
 * first one at the end; it also serves a start-up that fails half-way.
 */
export class ReleaseStack {
  readonly #closers: (() => unknown)[] = [];
  #released: Promise<void> | undefined;

  push(closer: () => unknown): void {
    this.#closers.push(closer);
  }

  release(): Promise<void> {
    this.#released ??= this.#run();
    return this.#released;
  }

  async #run(): Promise<void> {
    let first: unknown;
    for (let closer = this.#closers.pop(); closer; closer = this.#closers.pop()) {
      try {
        await closer();
      } catch (error) {
        first ??= error;
      }
    }
    if (first !== undefined) throw first;
  }
}

/** Longer than any drain. */
const STOP_LIMIT_MS = 60_000;

/**
 * Runs `stop` on SIGINT, SIGTERM, or when the parent that forked this process is gone; a second signal ends at once.
 * Returns a function that takes the handlers off again.
 */
export function onShutdown(stop: (reason: string) => Promise<void>): () => void {
  let asked = false;
  const handle = (reason: string): void => {
    if (asked) process.exit(130);
    asked = true;
    // Whatever is stuck, a process that was asked to stop, or whose parent is gone, must not stay forever.
    setTimeout(() => process.exit(1), STOP_LIMIT_MS).unref();
    stop(reason).then(
      () => process.exit(process.exitCode ?? 0),
      (error) => {
        process.stderr.write(`error while stopping: ${String(error)}\n`);
        process.exit(1);
      },
    );
  };
  const onInt = () => handle("SIGINT");
  const onTerm = () => handle("SIGTERM");
  const onDisconnect = () => handle("parent gone");
  process.on("SIGINT", onInt);
  process.on("SIGTERM", onTerm);
  process.on("disconnect", onDisconnect);
  return () => {
    process.off("SIGINT", onInt);
    process.off("SIGTERM", onTerm);
    process.off("disconnect", onDisconnect);
  };
}

/** Resolves after `ms`, or rejects at once when `signal` aborts. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return setTimer(ms, undefined, signal && { signal });
}

/** What `promise` gives, or after `ms` what `late` gives or throws. What the promise does later is ignored. */
export async function within<T, L>(ms: number, promise: Promise<T>, late: () => L): Promise<T | L> {
  const settled = new AbortController();
  try {
    return await Promise.race([promise, sleep(ms, settled.signal).then(late)]);
  } finally {
    settled.abort();
  }
}

/** Whether a promise fulfils in time; an error of it is dropped. */
export function fulfilsWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const fulfilled = promise.then(
    () => true,
    () => false,
  );
  return within(ms, fulfilled, () => false);
}

/** Calls `tick` every `ms`, never twice at once; errors go to `onError`. The returned function stops it and waits for the last call. */
export function every(ms: number, tick: () => Promise<void>, onError: (error: unknown) => void): () => Promise<void> {
  let running: Promise<void> | undefined;
  const timer = setInterval(() => {
    running ??= tick()
      .catch(onError)
      .finally(() => {
        running = undefined;
      });
  }, ms);
  return async () => {
    clearInterval(timer);
    await running;
  };
}

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

/** One thing that health or readiness depends on. `reason` says what is wrong, or what was found to be right. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly reason: string;
}

/** A loop that must keep turning for the service to be of use. */
export interface WatchedLoop {
  readonly name: string;
  /** Milliseconds since it last turned. */
  readonly age: number;
  /** True while it rests on purpose (every slot of a worker is busy). */
  readonly resting?: boolean;
}

export interface WatchedService {
  /** Undefined until the service has connected. */
  readonly redis: Redis | undefined;
  /** Connections that do nothing but wait for work. */
  readonly blocking: readonly Redis[];
  readonly loops: readonly WatchedLoop[];
  readonly stopping: boolean;
  /** What else readiness depends on (whether Redis takes writes, a worker's backend). */
  readonly more: readonly Check[];
}
