import { DataflexError } from "../errors.js";
import { within } from "../lifecycle.js";
import { whileRefused } from "../redis/refusals.js";
import { errorOf } from "../sentences.js";

/**
 * Rejects at `end` (ms of performance.now) whatever the promise does: a command that waits for an absent Redis must not outlive the
 * caller's deadline. A command that was sent may still arrive; every write is idempotent, so the caller may simply repeat it.
 */
export function before<T>(
  end: number,
  promise: Promise<T>,
  late: () => Error = () => new DataflexError("TIMEOUT", "deadline"),
): Promise<T> {
  return within(Math.max(0, end - performance.now()), promise, () => {
    throw late();
  });
}

/**
 * `before` for an operation that depends only on Redis; it is repeated while Redis refuses it with something that time can heal. Errors:
 * REDIS_UNREACHABLE naming what was attempted, REDIS_REFUSED, REDIS_FULL, REDIS_DENIED.
 */
export function answeredWithin<T>(ms: number, what: string, work: () => Promise<T>): Promise<T> {
  const end = performance.now() + ms;
  let refused: DataflexError | undefined;
  const onRefused = (refusal: DataflexError): void => {
    refused = refusal;
  };
  const answered = whileRefused(end, what, work, { onRefused });
  return before(end, answered, () => refused ?? errorOf("REDIS_UNREACHABLE", { what, time: `${ms} ms` }));
}
