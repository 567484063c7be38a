import type { Redis } from "ioredis";
import type { RawState } from "../../protocol/saved-state.js";
import { type RunRef, runKeys, STATE_TTL_MS } from "../keys.js";
import { type FencedWord, runScript } from "./run-script.js";

/** A pipeline's state as Redis has it: one packed entry per step. Empty if nothing was ever remembered. */
export async function readState(redis: Redis, run: string, pipeline: string): Promise<RawState> {
  const hash = await redis.hgetallBuffer(runKeys(run).state(pipeline));
  const steps = Object.entries(hash).filter(([field]) => field !== "head");
  return { keys: steps.map(([key]) => key), entries: steps.map(([, entry]) => entry) };
}

/** Replaces a pipeline's state. */
export async function restoreState(
  redis: Redis,
  ref: RunRef,
  pipeline: string,
  steps: readonly (readonly [key: string, entry: Uint8Array])[],
): Promise<"OK" | FencedWord> {
  const keys = runKeys(ref.run);
  const args = [ref.incarnation, STATE_TTL_MS, ...steps.flat()];
  return (await runScript(redis, "restoreState", [keys.mount, keys.state(pipeline)], args)).word;
}
