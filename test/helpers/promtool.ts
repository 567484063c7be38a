import { spawnSync } from "node:child_process";
import { packagePath } from "./packages.js";

/** Exit status of promtool, and all that it printed. */
export function promtool(args: readonly string[], input = ""): { status: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync(packagePath("prometheus"), [...args], { input, encoding: "utf8" });
  return { status, said: stdout + stderr };
}
