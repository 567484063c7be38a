import type { Redis } from "ioredis";
import type { Handle } from "../../protocol/messages.js";
import { runKeys } from "../keys.js";
import { number, runScript, type Word } from "./run-script.js";

/** Has a step whose pipeline failed computed again. Answers its new attempt, or why there is none. */
export async function retryStep(
  redis: Redis,
  handle: Handle,
  step: string,
  pipeline: string,
): Promise<{ readonly word: Word<"retry">; readonly attempt: number }> {
  const keys = runKeys(handle.run);
  const { word, rest } = await runScript(
    redis,
    "retry",
    [keys.mount, keys.step(handle.incarnation, step).status, keys.announce, keys.steps],
    [handle.incarnation, handle.run, step, pipeline, handle.limits.step_ttl_ms, handle.max_wait_ms],
  );
  return { word, attempt: word === "OK" ? number(rest[0]) : 0 };
}
