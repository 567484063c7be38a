import type { Redis } from "ioredis";
import type { RawState } from "../protocol/saved-state.js";
import { runKeys } from "./keys.js";

/** Fields of a state's hash that are no steps. */
const NO_STEPS: ReadonlySet<string> = new Set(["head", "rev"]);
/** Entries read at a time: each may have a hundred kilobytes, and Redis serves others in between. */
const AT_ONCE = 16;

/** A state as it was read before: its entries are still those unless `rev` has changed. */
export interface KnownState {
  readonly rev: string;
  readonly entries: ReadonlyMap<string, Uint8Array>;
}

/** A pipeline's state as it lies in Redis, one packed entry a step; of what is `known` already nothing is read again. */
export async function readState(redis: Redis, run: string, pipeline: string, known?: KnownState): Promise<KnownState> {
  const key = runKeys(run).state(pipeline);
  const answers = await redis.multi().hget(key, "rev").hkeys(key).exec();
  for (const [error] of answers ?? []) if (error) throw error;
  const rev = String(answers?.[0]?.[1] ?? "");
  const steps = ((answers?.[1]?.[1] ?? []) as string[]).filter((field) => !NO_STEPS.has(field));
  const before = known?.rev === rev ? known.entries : new Map<string, Uint8Array>();
  const missing = steps.filter((step) => !before.has(step));
  const read = new Map<string, Uint8Array>();
  for (let from = 0; from < missing.length; from += AT_ONCE) {
    const page = missing.slice(from, from + AT_ONCE);
    const entries = await redis.hmgetBuffer(key, ...page);
    // One that went meanwhile is left out. A copy, since the answer's buffer is shared by the whole page.
    for (const [i, entry] of entries.entries()) if (entry) read.set(page[i]!, Uint8Array.from(entry));
  }
  const entries = new Map<string, Uint8Array>();
  for (const step of steps) {
    const entry = before.get(step) ?? read.get(step);
    if (entry) entries.set(step, entry);
  }
  return { rev, entries };
}

/** As components and checkpoints take it. */
export function rawState({ entries }: KnownState): RawState {
  return { keys: [...entries.keys()], entries: [...entries.values()] };
}
