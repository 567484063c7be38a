import type { Redis } from "ioredis";
import type { Logger } from "../log.js";
import { ALL_TAGS, tagKeys } from "../redis/keys.js";
import type { Entry } from "../redis/streams.js";

/** How many entries that could not be read are kept: enough to find out who writes them. */
const KEPT = 1_000;

/** Kept bytes of each value: entries may have any size, and what has to be bounded is bytes. */
const VALUE_BYTES = 1_024;

/** Moves an entry that cannot be read to where a person can inspect it, with its id, and where it blocks nothing. */
export async function deadLetter(redis: Redis, entry: Entry, log: Logger, tag = ALL_TAGS[0] ?? "0"): Promise<void> {
  log.warn({ entry: entry.id }, "an entry could not be read; it lies in the dead stream");
  const flat = Object.entries(entry.fields).flatMap(([name, value]) => [
    name.slice(0, VALUE_BYTES),
    value.subarray(0, VALUE_BYTES),
  ]);
  await redis.xadd(tagKeys(tag).dead, "MAXLEN", "~", KEPT, "*", "entry", entry.id, ...flat);
}
