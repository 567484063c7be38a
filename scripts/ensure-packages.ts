// Installs the system packages that are missing, where this is root on a machine with apt-get; otherwise prints the line to type.
//   tsx scripts/ensure-packages.ts [NAME…]     names of scripts/packages.ts; all of them by default
// Exit status 2 where something is missing that nothing works without, or anything at all in CI, where no test may be skipped.
import { spawnSync } from "node:child_process";
import { commandPath, installLine, missingPackages, PACKAGE_NAMES, PACKAGES, type PackageName } from "./packages.js";

const names = process.argv.slice(2);
const unknown = names.filter((name) => !Object.hasOwn(PACKAGES, name));
if (unknown.length > 0) {
  console.error(`unknown package ${unknown.join(", ")}; known: ${PACKAGE_NAMES.join(", ")}`);
  process.exit(2);
}
const wanted = names.length > 0 ? (names as PackageName[]) : PACKAGE_NAMES;

if (process.getuid?.() === 0 && commandPath("apt-get")) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const apt = (...args: string[]): boolean =>
    spawnSync("apt-get", args, { stdio: ["ignore", "ignore", "inherit"], env }).status === 0;
  // One by one, so that a package that this distribution lacks does not prevent the others.
  for (const { apt: name } of missingPackages(wanted).map((missing) => PACKAGES[missing])) {
    console.error(`installing ${name} through apt …`);
    const install = (): boolean => apt("install", "-y", "--no-install-recommends", name);
    if (!install() && apt("update")) install();
  }
}

const missing = missingPackages(wanted);
if (missing.length > 0) {
  console.error(`Not installed: ${missing.join(", ")}. Type:  ${installLine(missing)}`);
  let fatal = Boolean(process.env.CI);
  for (const name of missing) {
    const { apt, skipped }: { apt: string; skipped?: string } = PACKAGES[name];
    if (skipped === undefined) fatal = true;
    console.error(skipped === undefined ? `Nothing works without ${apt}.` : `Without ${apt}, skipped: ${skipped}.`);
  }
  if (fatal) process.exit(2);
}
