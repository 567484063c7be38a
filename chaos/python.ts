import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const script = (name: string): string => fileURLToPath(new URL(`../scripts/${name}`, import.meta.url));
const REQUIREMENTS = fileURLToPath(new URL("../python/requirements-test.txt", import.meta.url));

/** An interpreter, and the Python package installed into `folder` as a user installs it. */
export function preparePython(folder: string): { interpreter: string; path: string } {
  const run = (name: string, args: readonly string[]): string =>
    execFileSync(script(name), args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }).trim();
  const interpreter = run("python-env.sh", [REQUIREMENTS]);
  run("python-package.sh", [interpreter, folder]);
  return { interpreter, path: folder };
}
