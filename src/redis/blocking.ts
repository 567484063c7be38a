import type { Redis } from "ioredis";

/** Beyond the server's own BLOCK time, an answer later than this means that the connection is half-open. */
const GRACE_MS = 2_000;

/**
 * Runs one blocking command with a guard: a connection that stays silent past the command's own limit is replaced, and the
 * command rejects, so that the loop reads its pending entries again before new ones. It also rejects when the connection
 * closes: a blocking command is never resent, so its answer would never come. `signal` ends the wait at once.
 */
export async function blockingCall<T>(
  redis: Redis,
  blockMs: number,
  call: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  signal?.throwIfAborted();
  let over = false;
  let timer: NodeJS.Timeout | undefined;
  let onAbort: (() => void) | undefined;
  let onClose: (() => void) | undefined;
  const guard = new Promise<never>((_, reject) => {
    const late = (): void => {
      if (over) return;
      redis.disconnect(true);
      reject(new Error(`no answer to a blocking command after ${blockMs + GRACE_MS} ms; the connection was replaced`));
    };
    // One more turn of the event loop: after a long computation in this process the answer may still be unread in the socket.
    timer = setTimeout(() => setImmediate(() => setImmediate(late)), blockMs + GRACE_MS);
    onClose = () => reject(new Error("the connection closed under a blocking command"));
    redis.once("close", onClose);
    onAbort = () => reject(signal?.reason ?? new Error("aborted"));
    signal?.addEventListener("abort", onAbort, { once: true });
  });
  const answer = call();
  // The guard may win the race; nothing handles the other promise then.
  answer.catch(() => {});
  guard.catch(() => {});
  try {
    return await Promise.race([answer, guard]);
  } finally {
    over = true;
    clearTimeout(timer);
    if (onClose) redis.off("close", onClose);
    if (onAbort) signal?.removeEventListener("abort", onAbort);
  }
}
