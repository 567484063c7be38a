import type { Redis } from "ioredis";
import { DataflexError } from "../errors.js";
import type { Handle } from "../protocol/messages.js";
import { stateOf } from "../protocol/pipeline-state.js";
import { checkSaved, packEntry, type SavedState, type StateEntry, unpackEntry } from "../protocol/saved-state.js";
import { rawState, readState } from "../redis/read-state.js";
import { restoreRun } from "../redis/scripts/mount-run.js";
import { restoreState } from "../redis/scripts/restore-state.js";
import { sentence } from "../sentences.js";

/** Reads what a pipeline remembers. Errors: INVALID_INPUT for a pipeline that remembers nothing, DECODE. */
export async function saveState(redis: Redis, handle: Handle, pipeline: string): Promise<SavedState> {
  const raw = rawState(await readState(redis, handle.run, stateOwner(handle, pipeline)));
  const steps = raw.keys.map((key, i): [string, StateEntry] => [key, unpackEntry(raw.entries[i]!)]);
  return { v: 1, pipeline, steps: Object.fromEntries(steps) };
}

/**
 * Replaces what Redis has with a saved state. Errors: INVALID_INPUT (no valid state, or the pipeline has none), FENCED,
 * NOT_MOUNTED, and those of Redis.
 */
export async function loadState(redis: Redis, handle: Handle, pipeline: string, saved: unknown): Promise<void> {
  const owner = stateOwner(handle, pipeline);
  const state = checkSaved(saved);
  const steps = Object.entries(state.steps).map(([key, entry]): [string, Uint8Array] => [key, packEntry(entry)]);
  const restore = () => restoreState(redis, handle, owner, steps);
  let word = await restore();
  if (word === "NOT_MOUNTED" && (await restoreRun(redis, handle))) word = await restore();
  if (word === "OK") return;
  const { run, incarnation } = handle;
  const why = sentence(word, { run, incarnation });
  throw new DataflexError(word, `the state of pipeline "${pipeline}" was not restored: ${why}`, { run, pipeline });
}

/** The name under which Redis keeps the pipeline's state. */
function stateOwner(handle: Handle, pipeline: string): string {
  const spec = handle.pipelines.find((p) => p.name === pipeline);
  const state = spec && stateOf(spec);
  if (state?.reads) return state.owner;
  const having = handle.pipelines.filter((p) => stateOf(p)?.reads).map((p) => p.name);
  throw new DataflexError(
    "INVALID_INPUT",
    `${spec === undefined ? `there is no pipeline "${pipeline}"` : `pipeline "${pipeline}" remembers nothing`}; ` +
      `pipelines with a state: ${having.join(", ") || "none"}`,
    { pipeline, having },
  );
}
