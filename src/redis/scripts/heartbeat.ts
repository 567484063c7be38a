import type { Redis } from "ioredis";
import { HEARTBEAT_TTL_MS, MOUNT_TTL_MS, type RunRef, runKeys, STATE_TTL_MS } from "../keys.js";
import { type FencedWord, runScript } from "./run-script.js";

/** Keeps a run's mount and states, and the run busy for other trainers; `leave`: this trainer signs off. */
export async function heartbeat(redis: Redis, ref: RunRef, leave = false): Promise<"OK" | FencedWord> {
  const keys = runKeys(ref.run);
  const { word } = await runScript(
    redis,
    "heartbeat",
    [keys.mount, keys.trainer, keys.steps],
    [ref.incarnation, MOUNT_TTL_MS, HEARTBEAT_TTL_MS, leave ? 1 : 0, STATE_TTL_MS],
  );
  return word;
}
