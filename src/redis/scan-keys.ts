import type { Redis } from "ioredis";

/** Keys per round trip: larger answers stall the server, smaller ones take more trips. */
const COUNT = 1_000;

/** Every key that begins with `prefix`, optionally of one type, without blocking the server as KEYS would. */
export async function scanKeys(redis: Redis, prefix: string, type?: "stream" | "hash" | "string"): Promise<string[]> {
  const pattern = `${prefix.replace(/[\\*?[\]]/g, "\\$&")}*`;
  const found = new Set<string>();
  let cursor = "0";
  do {
    const [next, keys] = await (type === undefined
      ? redis.scan(cursor, "MATCH", pattern, "COUNT", COUNT)
      : redis.scan(cursor, "MATCH", pattern, "COUNT", COUNT, "TYPE", type));
    for (const key of keys) found.add(key);
    cursor = next;
  } while (cursor !== "0");
  return [...found];
}
