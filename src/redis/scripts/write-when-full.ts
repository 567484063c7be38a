import type { Redis } from "ioredis";
import { runScript } from "./run-script.js";

/** A small write of one key that a full Redis accepts all the same: who lives must not look dead because memory ran out. */
export async function writeWhenFull(
  redis: Redis,
  command: "SET" | "ZADD",
  key: string,
  ...args: readonly (string | number)[]
): Promise<void> {
  await runScript(redis, "writeWhenFull", [key], [command, ...args]);
}
