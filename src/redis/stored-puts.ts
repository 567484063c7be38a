import type { Redis } from "ioredis";
import type { StepKeys } from "./keys.js";

/** What Redis has of a put. */
export interface StoredPut {
  readonly hash: string;
  /** The step's attempt when it was committed. */
  readonly attempt: number;
}

/** How many are requested at once. */
const AT_ONCE = 512;

/** A step's puts by `<stage>:<put id>`, in the order asked for; undefined for those that Redis does not have. */
export async function readStoredPuts(
  redis: Redis,
  keys: StepKeys,
  names: readonly string[],
): Promise<(StoredPut | undefined)[]> {
  const found: (StoredPut | undefined)[] = [];
  for (let from = 0; from < names.length; from += AT_ONCE) {
    const values = await redis.hmget(keys.puts, ...names.slice(from, from + AT_ONCE));
    found.push(...values.map(parse));
  }
  return found;
}

/** `<hash>,<attempt>,<chunks>,<bytes>|<fields>`, as `commit-put` writes it. */
function parse(value: string | null): StoredPut | undefined {
  const [hash, attempt] = (value ?? "").split(",", 2);
  return hash && attempt ? { hash, attempt: Number(attempt) } : undefined;
}
