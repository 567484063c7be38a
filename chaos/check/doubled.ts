import type { Redis } from "ioredis";

/** Outcomes of one pipeline and attempt beyond the first in a step's stream; none while Redis cannot be asked. */
export async function doubled(redis: Redis, out: string): Promise<string | undefined> {
  const seen = new Set<string>();
  for (const [, flat] of await redis.xrange(out, "-", "+").catch(() => [])) {
    const value = (name: string): string | undefined => flat[flat.indexOf(name) + 1];
    const outcome = `${value("pipeline")} attempt ${value("attempt")}`;
    if (seen.has(outcome)) return `two outcomes of ${outcome}`;
    seen.add(outcome);
  }
  return undefined;
}
