import type { Redis } from "ioredis";
import { sleep } from "../lifecycle.js";
import { type Logger, throttledLog } from "../log.js";
import { isRedisError } from "../redis/connect.js";
import { ALL_TAGS, tagKeys } from "../redis/keys.js";
import { type Entry, readAfter, readRange } from "../redis/streams.js";
import { deadLetter } from "./dead-letter.js";
import type { Leadership } from "./leadership.js";
import { type Notice, parseNotice } from "./notice.js";

/** Turns notices into gauges, counters, history. */
export interface NoticeSink {
  /** This broker leads from now on; what it knew from leading earlier is void. */
  begin(): void;
  /**
   * Notices in order. `counted` is false for those that an earlier leader has already processed: they give the last values,
   * and must not be counted again.
   */
  take(notices: readonly Notice[], counted: boolean): Promise<void>;
  /** This broker no longer leads. */
  end(): void;
}

export interface NoticeReaderOptions {
  readonly redis: Redis;
  readonly blocking: Redis;
  readonly leadership: Leadership;
  readonly sink: NoticeSink;
  readonly log: Logger;
  /** Called each time the loop turns. */
  readonly onTurn: () => void;
}

const COUNT = 256;
const BLOCK_MS = 2_000;
const OPEN_RETRY_MS = 1_000;
/** How far back a new leader looks for last values: for as long as a silent run is shown. */
const RECENT_MS = 15 * 60_000;

/**
 * Opens a connection and reads on it until `signal`. Never rejects: without its notices a broker has no metrics of runs, and does all
 * its other work.
 */
export async function keepReadingNotices(
  o: Omit<NoticeReaderOptions, "blocking" | "onTurn"> & {
    readonly open: () => Promise<Pick<NoticeReaderOptions, "blocking" | "onTurn">>;
  },
  signal: AbortSignal,
): Promise<void> {
  const logError = throttledLog((facts) => o.log.warn(facts, "cannot read the notices; trying again"));
  while (!signal.aborted) {
    try {
      const opened = await o.open();
      await readNotices({ ...o, ...opened }, signal);
      opened.blocking.disconnect();
    } catch (error) {
      logError(error);
      await sleep(OPEN_RETRY_MS, signal).catch(() => {});
    }
  }
}

/**
 * While this broker leads, reads the notices in order and hands them to the sink. The id of the last one processed is kept in
 * Redis, so that the next leader continues where this one stopped: each notice is counted once, except for at most one batch when a
 * leader dies between processing it and recording that.
 */
async function readNotices(o: NoticeReaderOptions, signal: AbortSignal): Promise<void> {
  const logError = throttledLog((facts) => o.log.warn(facts, "reading notices failed; trying again"));
  let reign = 0;
  let after = new Map<string, string>();
  while (!signal.aborted) {
    o.onTurn();
    try {
      if (!o.leadership.leading) {
        if (reign !== 0) o.sink.end();
        reign = 0;
        await o.leadership.nextStand(signal);
        continue;
      }
      if (o.leadership.reign !== reign) {
        const now = o.leadership.reign;
        after = await takeOver(o);
        reign = now;
      }
      const batches = await readAfter(o.blocking, after, COUNT, BLOCK_MS, signal);
      for (const [stream, entries] of batches) {
        // The lease lapsed while we waited: the new leader starts from the noted id.
        if (!o.leadership.leading || o.leadership.reign !== reign) break;
        await takeNew(o, entries);
        after.set(stream, entries.at(-1)!.id);
        await o.redis.set(readKeyOf(stream), entries.at(-1)!.id);
      }
    } catch (error) {
      if (signal.aborted) return;
      logError(error);
      await sleep(100, signal).catch(() => {});
    }
  }
}

const STREAMS = ALL_TAGS.map((tag) => tagKeys(tag));
const readKeyOf = (stream: string): string => STREAMS.find((s) => s.notices === stream)!.noticesRead;

/** Where the previous leader has stopped, per stream; its last values are read again on the way. */
async function takeOver(o: NoticeReaderOptions): Promise<Map<string, string>> {
  o.sink.begin();
  const after = new Map<string, string>();
  for (const { notices, noticesRead } of STREAMS) {
    const read = await o.redis.get(noticesRead);
    after.set(notices, read ?? "0");
    if (read === null) continue;
    let from = String(Math.max(0, Number(read.split("-", 1)[0]) - RECENT_MS));
    for (;;) {
      const entries = await readRange(o.redis, notices, from, read, COUNT);
      await o.sink.take(entries.map(parseNotice).filter(isDefined), false);
      if (entries.length < COUNT) break;
      from = `(${entries.at(-1)!.id}`;
    }
  }
  o.log.info({ after: Object.fromEntries(after) }, "this broker leads: it exports what all brokers share");
  return after;
}

/** Notices that this version cannot read or process go to the dead letters: those behind them are not held up. */
async function takeNew(o: NoticeReaderOptions, entries: readonly Entry[]): Promise<void> {
  const notices = entries.map(parseNotice);
  for (const [i, entry] of entries.entries()) if (!notices[i]) await deadLetter(o.redis, entry, o.log);
  try {
    await o.sink.take(notices.filter(isDefined), true);
  } catch (error) {
    if (isRedisError(error)) throw error;
    for (const [i, notice] of notices.entries()) if (notice) await takeAlone(o, notice, entries[i]!);
  }
}

async function takeAlone(o: NoticeReaderOptions, notice: Notice, entry: Entry): Promise<void> {
  try {
    await o.sink.take([notice], true);
  } catch (error) {
    if (isRedisError(error)) throw error;
    o.log.error({ run: notice.run, err: String(error) }, "a notice could not be taken in");
    await deadLetter(o.redis, entry, o.log);
  }
}

const isDefined = (notice: Notice | undefined): notice is Notice => notice !== undefined;

/** Passes notices to several sinks, one after the other; first those that tolerate a repeated batch, since after an error it is read again. */
export function allSinks(sinks: readonly NoticeSink[]): NoticeSink {
  return {
    begin: () => {
      for (const sink of sinks) sink.begin();
    },
    end: () => {
      for (const sink of sinks) sink.end();
    },
    take: async (notices, counted) => {
      for (const sink of sinks) await sink.take(notices, counted);
    },
  };
}
