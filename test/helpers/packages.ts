import { describe, test } from "vitest";
import { findPackage, installLine, type PackageName } from "../../scripts/packages.js";

/** In CI nothing is skipped: what lacks a package fails. */
const skips = (name: PackageName): boolean => !process.env.CI && findPackage(name) === undefined;

/** `test`, or `test.skip` where the package is not installed; test/helpers/skipped.ts lists what was skipped. */
export const testWith = (name: PackageName): typeof test => test.skipIf(skips(name)) as typeof test;
export const describeWith = (name: PackageName): typeof describe => describe.skipIf(skips(name)) as typeof describe;

/** The path of a package's command. Errors: an Error with the line that installs it. */
export function packagePath(name: PackageName): string {
  const path = findPackage(name);
  if (path === undefined) throw new Error(`${name} is not installed. Type:  ${installLine([name])}`);
  return path;
}
