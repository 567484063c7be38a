import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { commandPath } from "../../scripts/packages.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const ALL = ["redis-server", "chromium", "promtool"] as const;
/** Installs by making the commands; `rejected` is not in its distribution, and nothing is known before `update`. */
const APT = `#!/bin/sh
cd "\${0%/*}"
echo "$*" >>apt.log
case "$*" in
  update) : >updated ;;
  *rejected*) exit 1 ;;
  *) [ -e updated ] || exit 1
     for name; do :; done
     [ "$name" = prometheus ] && name=promtool
     echo >"$name"; chmod +x "$name" ;;
esac
`;

interface Machine {
  readonly path: string;
  aptCalls(): string[];
  run(args: readonly string[], options?: { root?: boolean; ci?: boolean }): { status: number | null; said: string };
}

/** A PATH with a shell, Node and the given commands, and no others; `apt`: the text of its apt-get. */
function machine(commands: readonly string[], apt?: string): Machine {
  const path = mkdtempSync(join(tmpdir(), "dfx-path-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  symlinkSync(commandPath("sh")!, join(path, "sh"));
  for (const tool of apt === undefined ? [] : ["chmod"]) symlinkSync(commandPath(tool)!, join(path, tool));
  symlinkSync(process.execPath, join(path, "node"));
  const write = (name: string, text: string): void => {
    writeFileSync(join(path, name), text);
    chmodSync(join(path, name), 0o755);
  };
  for (const name of commands) write(name, "");
  if (apt !== undefined) write("apt-get", apt);
  const log = join(path, "apt.log");
  return {
    path,
    aptCalls: () => (existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : []),
    run(args, { root = false, ci = false } = {}) {
      const { CI: _, ...env } = process.env;
      const uid = `data:text/javascript,process.getuid=()=>${root ? 0 : 1000}`;
      const { status, stdout, stderr } = spawnSync(process.execPath, ["--import", uid, ...args], {
        cwd: ROOT,
        encoding: "utf8",
        env: { ...env, PATH: path, NO_COLOR: "1", ...(ci && { CI: "true" }) },
      });
      return { status, said: stdout + stderr };
    },
  };
}
const ENSURE = ["--import", "tsx", "scripts/ensure-packages.ts"];
const VITEST = ["node_modules/vitest/vitest.mjs", "run"];

test("a machine that has everything: nothing is installed, nothing printed", () => {
  const { run, aptCalls } = machine(ALL, APT);
  expect(run(ENSURE, { root: true, ci: true })).toEqual({ status: 0, said: "" });
  expect(aptCalls()).toEqual([]);
});

test("root on a machine with apt: each missing package is installed, the lists updated where that is needed", () => {
  const { run, aptCalls } = machine(["valkey-server"], APT);
  const { status, said } = run(ENSURE, { root: true });
  expect([status, said]).toEqual([0, "installing chromium through apt …\ninstalling prometheus through apt …\n"]);
  const install = "install -y --no-install-recommends";
  expect(aptCalls()).toEqual([`${install} chromium`, "update", `${install} chromium`, `${install} prometheus`]);
});

test("a package that apt does not have keeps no other out, and its line is printed", () => {
  const { run } = machine(["redis-server"], APT.replace("rejected", "chromium"));
  const { status, said } = run(ENSURE, { root: true });
  expect(status).toBe(0);
  expect(said).toContain("Not installed: chromium. Type:  sudo apt-get install -y chromium   (macOS: brew install");
});

test.each([
  ["no root", APT],
  ["no apt", undefined],
])("%s: nothing is installed; the line to type, and what is skipped, are printed", (_, apt) => {
  const { run, aptCalls } = machine(["redis-server"], apt);
  const { status, said } = run(ENSURE, { root: apt === undefined });
  expect(status).toBe(0);
  expect(said.split("\n")).toEqual([
    "Not installed: chromium, prometheus. Type:  sudo apt-get install -y chromium prometheus   (macOS: brew install --cask chromium prometheus)",
    "Without chromium, skipped: the tests that open the live page in a browser.",
    "Without prometheus, skipped: the tests that ask a real Prometheus about metrics, alerts and dashboards.",
    "",
  ]);
  expect(aptCalls()).toEqual([]);
});

test("without a Redis server nothing works: exit status 2; the demo asks for nothing else", () => {
  const { run } = machine(["chromium", "promtool"]);
  const { status, said } = run([...ENSURE, "redis"]);
  expect(status).toBe(2);
  expect(said).toContain("sudo apt-get install -y redis-server   (macOS: brew install redis)");
  expect(said).toContain("Nothing works without redis-server.");
  expect(machine(["redis-server"]).run([...ENSURE, "redis"])).toEqual({ status: 0, said: "" });
});

test("in CI whatever is missing is an error", () => {
  const { status, said } = machine(["redis-server", "promtool"]).run(ENSURE, { ci: true });
  expect([status, said]).toEqual([2, expect.stringContaining("Not installed: chromium.")]);
});

test("tests that lack a package are skipped, listed by name and counted; in CI they fail with the line to type", () => {
  const { run } = machine(["redis-server"]);
  const files = ["test/browser/mix.test.ts", "test/contract/prometheus.test.ts"];
  const local = run([...VITEST, ...files]);
  expect([local.status, local.said]).toEqual([0, expect.stringContaining("6 skipped")]);
  expect(local.said).toContain("skipped: test/browser/mix.test.ts > a mixing run's proportions");
  expect(local.said).toContain("skipped: test/contract/prometheus.test.ts > promtool > test rules");
  expect(local.said).toContain("6 tests skipped, not installed: chromium, prometheus. Type:  sudo apt-get install -y");
  const ci = run([...VITEST, files[1]!], { ci: true });
  expect([ci.status, ci.said]).toEqual([
    1,
    expect.stringContaining("prometheus is not installed. Type:  sudo apt-get"),
  ]);
  expect(ci.said).not.toContain("skipped");
});
