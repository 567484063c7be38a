import { setTimeout as pause } from "node:timers/promises";

export interface EventuallyOptions {
  readonly timeoutMs?: number;
  /** What is awaited, for the message when it does not come. */
  readonly what?: string;
}

type Truthy<T> = Exclude<NonNullable<T>, false | "" | 0>;

/** Small against everything awaited here, large against the cost of one look. */
const LOOK_EVERY_MS = 20;

/**
 * Looks until `look` answers something truthy, and answers that; a throw counts as "not yet". At the deadline it fails with the last
 * answer or error.
 */
export async function eventually<T>(look: () => T | Promise<T>, o: EventuallyOptions = {}): Promise<Truthy<T>> {
  const { timeoutMs = 10_000, what = "the awaited state" } = o;
  const end = performance.now() + timeoutMs;
  let last: unknown;
  for (;;) {
    try {
      const answer = await look();
      if (answer) return answer as Truthy<T>;
      last = answer;
    } catch (error) {
      last = error;
    }
    if (performance.now() > end) {
      const seen = last instanceof Error ? last.message : JSON.stringify(last);
      throw new Error(`${what} did not come within ${timeoutMs} ms; last: ${seen}`);
    }
    await pause(LOOK_EVERY_MS);
  }
}

/** The error that a promise rejects with; fails when it resolves. */
export async function rejection(promise: Promise<unknown>): Promise<Error & { code?: string; details?: unknown }> {
  try {
    await promise;
  } catch (error) {
    return error as Error;
  }
  throw new Error("resolved, although it should have failed");
}
