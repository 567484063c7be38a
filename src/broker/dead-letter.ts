import type { Redis } from "ioredis";
import type { Logger } from "../log.js";
import { ALL_TAGS, tagKeys } from "../redis/keys.js";
import type { Entry } from "../redis/streams.js";

/** What is kept of entries that could not be read: enough to find out who writes them. */
const KEPT = 1_000;

/** Of each value: entries of any size may come, and the bound that counts is one of bytes. */
const VALUE_BYTES = 1_024;

/** An entry that cannot be read goes where a person can look at it, with its id, and out of everybody's way. */
export async function deadLetter(redis: Redis, entry: Entry, log: Logger, tag = ALL_TAGS[0] ?? "0"): Promise<void> {
  log.warn({ entry: entry.id }, "an entry could not be read; it lies in the dead stream");
  const flat = Object.entries(entry.fields).flatMap(([name, value]) => [
    name.slice(0, VALUE_BYTES),
    value.subarray(0, VALUE_BYTES),
  ]);
  await redis.xadd(tagKeys(tag).dead, "MAXLEN", "~", KEPT, "*", "entry", entry.id, ...flat);
}
