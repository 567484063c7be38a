import type { Redis } from "ioredis";
import { type RunRef, runKeys, STATE_TTL_MS } from "../keys.js";
import { type FencedWord, runScript } from "./run-script.js";

/** Bytes of entries that one script takes at most, one entry at least. */
const PART_BYTES = 256 << 10;

type Steps = readonly (readonly [key: string, entry: Uint8Array])[];

/** Replaces a pipeline's state, in parts that each keep Redis busy for a moment only. */
export async function restoreState(
  redis: Redis,
  ref: RunRef,
  pipeline: string,
  steps: Steps,
): Promise<"OK" | FencedWord> {
  const keys = runKeys(ref.run);
  let first = 1;
  for (const part of parts(steps)) {
    const args = [ref.incarnation, STATE_TTL_MS, first, ...part.flat()];
    const { word } = await runScript(redis, "restoreState", [keys.mount, keys.state(pipeline)], args);
    if (word !== "OK") return word;
    first = 0;
  }
  return "OK";
}

/** At least one part, also of no steps: it clears what Redis has. */
function parts(steps: Steps): Steps[] {
  const made: (readonly [string, Uint8Array])[][] = [[]];
  let bytes = 0;
  for (const step of steps) {
    if (bytes + step[1].byteLength > PART_BYTES && bytes > 0) {
      made.push([]);
      bytes = 0;
    }
    made.at(-1)!.push(step);
    bytes += step[1].byteLength;
  }
  return made;
}
