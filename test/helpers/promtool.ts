import { spawnSync } from "node:child_process";

/** Debian's `prometheus` package holds both programs; .ci/run installs it. */
export function hasProgram(name: "promtool" | "prometheus"): boolean {
  const found = spawnSync(name, ["--version"]).status === 0;
  if (!found) console.warn(`SKIPPED: ${name} is not installed, so this is not checked (apt-get install prometheus)`);
  return found;
}

/** Exit status, and all that promtool said. */
export function promtool(...args: readonly string[]): { status: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync("promtool", [...args], { encoding: "utf8" });
  return { status, said: stdout + stderr };
}
