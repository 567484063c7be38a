import type { Redis } from "ioredis";
import type { PipelineSpec } from "../protocol/messages.js";
import { packEntry, type RawState } from "../protocol/saved-state.js";
import { type RememberedStep, STATE_STEPS } from "../redis/settle.js";
import { readState } from "../redis/state-store.js";
import type { Remember } from "./compute/thread-messages.js";

/** What a job needs of earlier steps: mixers and selectors that remember their own state, policies that of what feeds them. */
export async function stateFor(redis: Redis, run: string, spec: PipelineSpec): Promise<RawState | undefined> {
  if (spec.mechanism === "mix" || spec.remembers) return readState(redis, run, spec.name);
  if (spec.policy?.role === "select") return readState(redis, run, spec.policy.fed_by);
  return undefined;
}

/** What a computed step adds to the state, as settle takes it. */
export function rememberedStep(incarnation: number, { by, values, steps }: Remember): RememberedStep {
  return { entry: packEntry({ inc: incarnation, by, values }), keep: steps ?? STATE_STEPS };
}
