import { createHash } from "node:crypto";

/**
 * JSON with sorted keys: equal values give equal text in every process. `undefined` members are left out, as JSON does;
 * -0 and 0 are one; anything JSON cannot hold is refused by JSON itself.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) => {
    if (typeof item !== "object" || item === null || Array.isArray(item)) return item;
    const entries = Object.entries(item).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    return Object.fromEntries(entries);
  });
}

/** First `digits` hex digits of the SHA-256 of a text. */
export function shortHash(text: string, digits = 12): string {
  return createHash("sha256").update(text).digest("hex").slice(0, digits);
}
