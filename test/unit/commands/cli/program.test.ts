import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { Io } from "../../../../src/commands/cli/io.js";
import { buildProgram, runCli } from "../../../../src/commands/cli/program.js";
import { VERSION } from "../../../../src/version.js";
import { CLI, dataflexMq } from "../../../helpers/cli.js";

async function run(...argv: string[]) {
  let out = "";
  let err = "";
  const io: Io = { out: (t) => (out += t), err: (t) => (err += t), env: {}, fancy: false, clear: () => {} };
  const code = await runCli(argv, io);
  return { code, out, err };
}
const data = (source: string) => `data:text/javascript,${encodeURIComponent(source)}`;
const quiet: Io = { out: () => {}, err: () => {}, env: {}, fancy: false, clear: () => {} };

describe("the command line", () => {
  it.each([
    [["chek", "x"], "unknown command 'chek'; did you mean \"check\"?   see: dataflex-mq --help"],
    [["check", "--jsn", "x"], "unknown option '--jsn'; did you mean \"--json\"?   see: dataflex-mq check --help"],
    [["check", "x", "--adv-estimater=gae"], 'did you mean "--adv-estimator"?'],
    [["check"], "missing required argument 'config'   see: dataflex-mq check --help"],
    [["check", "a", "b"], "too many arguments for 'check'"],
  ])("%j is a usage error", async (argv, message) => {
    const { code, out, err } = await run(...argv);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(/^error\[USAGE\] /);
    expect(err).toContain(message);
  });

  it("reports errors as one JSON object with --json", async () => {
    const { code, out, err } = await run("chek", "--json");
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(JSON.parse(err)).toMatchObject({ error: { code: "USAGE" } });
  });

  it("prints help and version to stdout; without a command, help is the answer and the code is 2", async () => {
    expect(await run("--version")).toEqual({ code: 0, out: `${VERSION}\n`, err: "" });
    expect(await run("--help")).toMatchObject({ code: 0, err: "" });
    expect((await run()).code).toBe(2);
  });

  it("every command has examples, and --json", async () => {
    for (const command of buildProgram({ io: quiet, setExit: () => {} }).commands) {
      const { code, out } = await run(command.name(), "--help");
      expect(code).toBe(0);
      expect(out).toMatch(new RegExp(`Examples:\\n  dataflex-mq ${command.name()}`));
      expect(out).toContain("--json");
      expect(command.summary()).not.toBe("");
    }
  });
});

it("VERSION is the package's", () => {
  const manifest = JSON.parse(readFileSync(new URL("../../../../package.json", import.meta.url), "utf8"));
  expect(manifest.version).toBe(VERSION);
});

it.each([
  ["--help"],
  ["components"],
  ["check", fileURLToPath(new URL("../../../../config/default.yaml", import.meta.url))],
])("%s loads no redis, queue, server or tensor module", (...args) => {
  // A loader hook prints every module that is resolved.
  const hook =
    "export async function resolve(s, c, n) { const r = await n(s, c); process._rawDebug(r.url); return r; }";
  const register = `import { register } from "node:module"; register(${JSON.stringify(data(hook))});`;
  const { stderr, status } = spawnSync(process.execPath, ["--import", data(register), CLI, ...args], {
    encoding: "utf8",
  });
  expect(status).toBe(0);
  expect(stderr).toContain("/node_modules/commander/");
  for (const name of ["bullmq", "ioredis", "fastify", "@tensorflow", "prom-client", "pino", "jiti"]) {
    expect(stderr).not.toContain(`/node_modules/${name}/`);
  }
});

it("writes no escape codes", async () => {
  const { out } = await dataflexMq(["components"], { env: { FORCE_COLOR: "1" } });
  expect(out).toContain("group_solve_rate");
  expect(out).not.toContain("\u001b");
});
