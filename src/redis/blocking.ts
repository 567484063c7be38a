import type { Redis } from "ioredis";

/** Beyond the server's own BLOCK time, an answer later than this means that the connection is half-open. */
const GRACE_MS = 2_000;

/**
 * Runs one blocking command with a guard: a connection that stays silent past the command's own limit is replaced, and the
 * command rejects, so that the loop reads its pending entries again before new ones. `signal` ends the wait at once.
 */
export async function blockingCall<T>(
  redis: Redis,
  blockMs: number,
  call: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  signal?.throwIfAborted();
  let timer: NodeJS.Timeout | undefined;
  let onAbort: (() => void) | undefined;
  const guard = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      redis.disconnect(true);
      reject(new Error(`no answer to a blocking command after ${blockMs + GRACE_MS} ms; the connection was replaced`));
    }, blockMs + GRACE_MS);
    onAbort = () => reject(signal?.reason ?? new Error("aborted"));
    signal?.addEventListener("abort", onAbort, { once: true });
  });
  const answer = call();
  // The guard may win; the command then rejects later, when its connection closes, and nobody else listens.
  answer.catch(() => {});
  try {
    return await Promise.race([answer, guard]);
  } finally {
    clearTimeout(timer);
    if (onAbort) signal?.removeEventListener("abort", onAbort);
  }
}
