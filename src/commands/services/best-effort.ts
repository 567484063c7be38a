import { sleep } from "../../lifecycle.js";

/** Tidying up at a server that has gone would wait for it for ever. */
const PATIENCE_MS = 3_000;

/**
 * Runs a clean-up that must neither hide the error that led to it nor keep a command from ending: its own errors are dropped
 * (what stays behind carries a TTL), and it is abandoned after 3 s.
 */
export async function bestEffort(cleanUp: () => Promise<unknown>): Promise<void> {
  const done = new AbortController();
  const finished = cleanUp()
    .catch(() => {})
    .finally(() => done.abort());
  await Promise.race([finished, sleep(PATIENCE_MS, done.signal).catch(() => {})]);
}
