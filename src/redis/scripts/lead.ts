import type { Redis } from "ioredis";
import { LEASE_MS, sharedKeys } from "../keys.js";
import { runScript } from "./run-script.js";

/** Takes or renews the leading broker's lease. NEW: taken now; KEPT: it was this broker's; OTHER: another broker has it. */
export async function takeLease(redis: Redis, broker: string): Promise<"NEW" | "KEPT" | "OTHER" | "LEFT"> {
  return (await runScript(redis, "lead", [sharedKeys.leader], [broker, LEASE_MS])).word;
}

/** Gives the lease back; does nothing if another broker has it. */
export async function leaveLease(redis: Redis, broker: string): Promise<void> {
  await runScript(redis, "lead", [sharedKeys.leader], [broker, 0]);
}
