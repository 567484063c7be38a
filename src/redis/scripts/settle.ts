import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";
import { pack } from "../../protocol/codec.js";
import { type FailureHeader, type OutcomeHeader, PROTOCOL_VERSIONS } from "../../protocol/messages.js";
import { writeChunks } from "../chunk-stream.js";
import { HASH_DIGITS, runKeys, STATE_TTL_MS, type StepRef } from "../keys.js";
import { runScript, type Word } from "./run-script.js";

/** What settle answered: OK, or why this outcome was not accepted. */
export type SettleWord = Word<"settle">;

/** What an accepted result adds to its pipeline's state, and how many steps the state keeps. A pipeline adds only to its own state. */
export interface RememberedStep {
  readonly entry: Uint8Array;
  readonly keep: number;
}

/** What an outcome was computed from; the step must still hold exactly that when the outcome is accepted. */
export interface MadeOf {
  readonly content: string;
  /** Content hashes of its puts. */
  readonly puts: readonly string[];
}

/**
 * Offers the outcome of a pipeline's step; the first accepted one wins. A body in chunks is uploaded first, into a stream of this
 * writer's own, which is removed again if another outcome won.
 */
export async function settle(
  redis: Redis,
  ref: StepRef,
  header: OutcomeHeader,
  chunks: readonly Uint8Array[],
  limits: { inline_bytes: number; step_ttl_ms: number },
  { of, remember }: { readonly of?: MadeOf | undefined; readonly remember?: RememberedStep | undefined } = {},
): Promise<SettleWord> {
  const keys = runKeys(ref.run);
  const step = keys.step(ref.incarnation, ref.step);
  const bytes = chunks.reduce((n, c) => n + c.byteLength, 0);
  const inline = bytes <= limits.inline_bytes;
  const token = randomUUID();
  const resultKey = step.result(header.pipeline, token);
  if (!inline) {
    await writeChunks(redis, resultKey, chunks, limits.step_ttl_ms).catch(async (error) => {
      // What did arrive would stay in a full Redis until its TTL.
      await redis.unlink(resultKey).catch(() => {});
      throw error;
    });
  }
  const { word } = await runScript(
    redis,
    "settle",
    [keys.mount, step.status, step.out, resultKey, keys.notices, keys.steps, keys.state(header.pipeline)],
    [
      ...[ref.incarnation, ref.run, ref.step, header.pipeline, header.attempt, header.kind],
      ...[inline ? 0 : chunks.length, pack(header), inline ? Buffer.concat(chunks) : "", limits.step_ttl_ms],
      ...[inline ? "" : resultKey.slice(step.prefix.length), token],
      // Without an entry the step is only removed: nothing grows.
      ...[remember?.entry ?? "", remember?.keep ?? Number.MAX_SAFE_INTEGER, STATE_TTL_MS],
      ...[of?.content ?? "", (of?.puts ?? []).map((hash) => hash.slice(0, HASH_DIGITS)).join(",")],
    ],
  );
  if (!inline && word !== "OK") await redis.unlink(resultKey);
  return word;
}

/** `of` undefined: a failure of waiting, which concerns the step's attempt, whatever was put. */
export function settleFailure(
  redis: Redis,
  ref: StepRef,
  failure: Omit<FailureHeader, "v" | "kind">,
  limits: { inline_bytes: number; step_ttl_ms: number },
  of?: MadeOf | undefined,
): Promise<SettleWord> {
  const header = { v: PROTOCOL_VERSIONS[0]!, kind: "failure", ...failure, ...bounded(failure) } as const;
  return settle(redis, ref, header, [], limits, { of });
}

/** A message is for people, but a component's error may contain a whole batch. */
const MESSAGE_CHARS = 4_000;
const DETAILS_BYTES = 16 << 10;

/** Bounds what is sent to the trainer and kept with the notices; details that cannot be encoded are left out. */
function bounded({ message, details }: Pick<FailureHeader, "message" | "details">) {
  const cut = message.length > MESSAGE_CHARS;
  return {
    message: cut ? `${message.slice(0, MESSAGE_CHARS)} … (${message.length} characters)` : message,
    details: packedSize(details) > DETAILS_BYTES ? {} : details,
  };
}
function packedSize(value: unknown): number {
  try {
    return pack(value).byteLength;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
