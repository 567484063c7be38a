import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const environment = (requirements: string): string =>
  execFileSync("scripts/python-env.sh", [requirements], { cwd: ROOT, encoding: "utf8" }).trim();

// The interpreter has NumPy and msgpack; the package itself and PyTorch come from their own places.
const torch = environment("test/parity/requirements.txt");
const site = execFileSync(torch, ["-c", 'import sysconfig; print(sysconfig.get_path("purelib"))'], {
  encoding: "utf8",
});
process.env.DFX_PYTHON = environment("python/requirements-test.txt");
process.env.PYTHONPATH = [`${ROOT}/python/src`, site.trim()].join(":");
