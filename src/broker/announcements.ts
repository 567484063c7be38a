import type { Redis } from "ioredis";
import { faultPoint } from "../fault-points.js";
import { sleep } from "../lifecycle.js";
import { type Logger, throttledLog } from "../log.js";
import {
  claimStale,
  done,
  type Entry,
  ensureGroup,
  type GroupReader,
  readNew,
  readPending,
  removeIdleConsumers,
} from "../redis/streams.js";

/** Anybody may append what is as large as Redis takes (64 MiB as configured): so many of them fit into a broker. */
const COUNT = 8;
const BLOCK_MS = 2_000;
/** Own pending entries are read again this often: an answer may have been lost on its way here. */
const PENDING_EVERY_MS = 5_000;
/** Far longer than handling takes; claiming twice would do no harm, since handling decides by state. */
const CLAIM_IDLE_MS = 10_000;
const CONSUMER_IDLE_MS = 60_000;

export interface GroupLoopOptions extends GroupReader {
  readonly redis: Redis;
  readonly blocking: Redis;
  readonly log: Logger;
  /** Handles entries; returns the ids that are finished. The others stay pending and are delivered again. */
  readonly handle: (entries: Entry[]) => Promise<string[]>;
  /** Called each time the loop turns. */
  readonly onTurn?: () => void;
}

/**
 * Reads a stream as a member of a group, for ever: own pending entries first (at start, after every error and on a timer), then
 * new ones; now and then it takes over what dead members have left. A flushed server's group is created again, from 0.
 */
export async function groupLoop(o: GroupLoopOptions, signal: AbortSignal): Promise<void> {
  const logError = throttledLog((facts) =>
    o.log.warn({ stream: o.stream, ...facts }, "reading a stream failed; its pending entries are read again"),
  );
  let drainAt = 0;
  while (!signal.aborted) {
    o.onTurn?.();
    try {
      if (performance.now() >= drainAt) {
        await ensureGroup(o.redis, o.stream, o.group);
        await drainPending(o);
        await finish(o, await claimStale(o.redis, o, CLAIM_IDLE_MS, COUNT));
        await removeIdleConsumers(o.redis, o, CONSUMER_IDLE_MS);
        drainAt = performance.now() + PENDING_EVERY_MS;
      }
      const entries = await readNew(o.blocking, o, COUNT, BLOCK_MS, signal);
      await finish(o, entries);
    } catch (error) {
      if (signal.aborted) return;
      logError(error);
      drainAt = 0;
      await sleep(100, signal).catch(() => {});
    }
  }
}

async function drainPending(o: GroupLoopOptions): Promise<void> {
  let after = "0";
  for (;;) {
    const entries = await readPending(o.redis, o, COUNT, after);
    if (entries.length === 0) return;
    await finish(o, entries);
    after = entries.at(-1)!.id;
  }
}

async function finish(o: GroupLoopOptions, entries: Entry[]): Promise<void> {
  if (entries.length === 0) return;
  faultPoint("broker.announcement-read");
  await done(o.redis, o.stream, o.group, await o.handle(entries));
  faultPoint("broker.acknowledged");
}
