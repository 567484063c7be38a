// What the machine must have beside Node and npm's packages: one table for the README's commands, the tests and .ci/run.
import { spawnSync } from "node:child_process";
import { SERVERS } from "../src/redis/private-server.js";

export interface SystemPackage {
  /** Its name in Debian and Ubuntu. */
  readonly apt: string;
  /** Its name in Homebrew. */
  readonly brew: string;
  /** Any of these commands will do; the first that is found is used. */
  readonly commands: readonly string[];
  /** What is left out where it is missing; absent: nothing works without it. */
  readonly skipped?: string;
}

export const PACKAGES = {
  redis: { apt: "redis-server", brew: "redis", commands: SERVERS },
  chromium: {
    apt: "chromium",
    brew: "--cask chromium",
    commands: ["chromium", "chromium-browser", "google-chrome"],
    skipped: "the tests that open the live page in a browser",
  },
  // It brings `prometheus` as well.
  prometheus: {
    apt: "prometheus",
    brew: "prometheus",
    commands: ["promtool"],
    skipped: "the tests that ask a real Prometheus about metrics, alerts and dashboards",
  },
} as const satisfies Record<string, SystemPackage>;

export type PackageName = keyof typeof PACKAGES;
export const PACKAGE_NAMES = Object.keys(PACKAGES) as PackageName[];

/** The path of a command, or undefined where PATH has none. */
export function commandPath(name: string): string | undefined {
  const { status, stdout } = spawnSync("sh", ["-c", 'command -v "$1"', "sh", name], { encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}

/** The path of a package's command, or undefined where the package is missing. */
export function findPackage(name: PackageName): string | undefined {
  for (const command of PACKAGES[name].commands) {
    const path = commandPath(command);
    if (path !== undefined) return path;
  }
  return undefined;
}

export const missingPackages = (names: readonly PackageName[] = PACKAGE_NAMES): PackageName[] =>
  names.filter((name) => findPackage(name) === undefined);

/** The line to type where packages are missing. */
export function installLine(names: readonly PackageName[]): string {
  const [apt, brew] = (["apt", "brew"] as const).map((by) => names.map((name) => PACKAGES[name][by]).join(" "));
  return `sudo apt-get install -y ${apt}   (macOS: brew install ${brew})`;
}
