import type { Redis } from "ioredis";
import { pack } from "../../protocol/codec.js";
import { runKeys, type StepRef } from "../keys.js";
import { type FencedWord, runScript, text } from "./run-script.js";

/** BURIED: the step's keys are gone; PENDING: they go when the last pipeline at work settles; UNKNOWN: there was no such step. */
export type Unlinked = "BURIED" | "PENDING" | "UNKNOWN";
export type ReleaseAnswer = { readonly word: "OK"; readonly released: Unlinked } | { readonly word: FencedWord };

/** The trainer is done with a step. `report`: what it reports to history and metrics. */
export async function releaseStep(
  redis: Redis,
  ref: StepRef,
  limits: { readonly step_ttl_ms: number },
  report: unknown,
): Promise<ReleaseAnswer> {
  const keys = runKeys(ref.run);
  const { word, rest } = await runScript(
    redis,
    "release",
    [keys.mount, keys.step(ref.incarnation, ref.step).status, keys.steps, keys.notices],
    [ref.incarnation, ref.run, ref.step, limits.step_ttl_ms, report === undefined ? "" : pack(report)],
  );
  if (word !== "OK") return { word };
  return { word, released: text(rest[0]) as Unlinked };
}
