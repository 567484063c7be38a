import type { Redis } from "ioredis";
import { DataflexError } from "../errors.js";
import { checkHandle } from "../protocol/check-messages.js";
import { unpack } from "../protocol/codec.js";
import type { Handle } from "../protocol/messages.js";
import { type RunKeys, runKeys } from "./keys.js";

/** The handle of a run; undefined if it is not mounted. Errors: DECODE. */
export async function readHandle(redis: Redis, keys: Pick<RunKeys, "mount">): Promise<Handle | undefined> {
  const [inc, blob] = await redis.hmgetBuffer(keys.mount, "inc", "handle");
  if (!inc || !blob) return undefined;
  return checkHandle({ ...(unpack(blob) as object), incarnation: Number(String(inc)) });
}

/** For readers of many runs: one whose mount cannot be read counts as not mounted. */
export async function readableHandle(redis: Redis, keys: Pick<RunKeys, "mount">): Promise<Handle | undefined> {
  try {
    return await readHandle(redis, keys);
  } catch (error) {
    if (error instanceof DataflexError && error.code === "DECODE") return undefined;
    throw error;
  }
}

/** How many runs' handles one process caches; those beyond are read again. */
const HANDLES_KEPT = 256;

/** Handles by run and incarnation: within an incarnation they never change, so each is read once. */
export class Handles {
  readonly #redis: Redis;
  readonly #known = new Map<string, Handle>();

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  /** Undefined when the run is not mounted, or mounted by another incarnation. */
  async get(run: string, incarnation: number): Promise<Handle | undefined> {
    const known = this.#known.get(run);
    if (known?.incarnation === incarnation) return known;
    const fresh = await readHandle(this.#redis, runKeys(run));
    if (!fresh) return undefined;
    this.set(fresh);
    return fresh.incarnation === incarnation ? fresh : undefined;
  }

  set(handle: Handle): void {
    this.#known.set(handle.run, handle);
    if (this.#known.size > HANDLES_KEPT) this.#known.delete(this.#known.keys().next().value!);
  }
}
