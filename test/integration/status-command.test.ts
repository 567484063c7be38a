import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { Io } from "../../src/commands/cli/io.js";
import { runCli } from "../../src/commands/cli/program.js";
import { eventually } from "../helpers/eventually.js";
import { resultHeader, specOf } from "../helpers/page-runs.js";
import { freePort } from "../helpers/ports.js";
import { startTestRedis } from "../helpers/redis.js";
import { FakeRun, startLeader } from "../helpers/watched-broker.js";

const CLI = fileURLToPath(new URL("../../dist/src/commands/cli/main.js", import.meta.url));

async function command(...argv: string[]) {
  let out = "";
  let err = "";
  const io: Io = { out: (t) => (out += t), err: (t) => (err += t), env: {}, fancy: false, clear: () => {} };
  const code = await runCli(argv, io);
  return { code, out, err };
}

test("status shows the fact, runs, steps, queues, workers and errors, and names runs that come near", async () => {
  await using redis = await startTestRedis();
  expect((await command("status", "--redis", redis.url)).out).toContain("CRITICAL  No broker lives");
  const { broker } = await startLeader(redis.url);
  try {
    const run = await FakeRun.mount(redis, "qwen7b\u001b", [specOf("main")]);
    await run.settle("7.0", resultHeader("main", 7));
    await run.fail("8.0", "NON_FINITE");
    const { out } = await eventually(async () => {
      const answer = await command("status", run.handle.run, "--redis", redis.url);
      return answer.out.includes("NON_FINITE") && answer;
    });
    expect(out).toContain('no worker serves pipeline "main"');
    for (const part of [
      "RUNS",
      "PIPELINES",
      "NEWEST STEPS",
      "QUEUES",
      "WORKERS",
      "LAST ERRORS",
      "NO WORKER",
      "advantage_magnitude -> softmax",
    ]) {
      expect(out).toContain(part);
    }
    expect(out).not.toContain("\u001b");
    const json = JSON.parse((await command("status", "--redis", redis.url, "--json")).out) as {
      overview: { runs: unknown[] };
    };
    expect(json.overview.runs).toHaveLength(1);
    const unknown = await command("status", "qwen7", "--redis", redis.url);
    expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining("did you mean")]);
  } finally {
    await broker.stop();
  }
});

test("doctor: a good server passes, a wrong setting exits 1 with its line, no address exits 2, no answer 3", async () => {
  await using good = await startTestRedis();
  const passed = await command("doctor", "--redis", good.url);
  expect(passed.out).toContain("Nothing wrong");
  expect(passed.code).toBe(0);
  await using bad = await startTestRedis(["--timeout", "60", "--maxmemory-policy", "volatile-lru"]);
  const failed = await command("doctor", "--redis", bad.url);
  expect(failed.code).toBe(1);
  expect(failed.out).toContain("fix: redis-cli CONFIG SET maxmemory-policy noeviction");
  expect(failed.out).toContain("fix: redis-cli CONFIG SET timeout 0");
  const none = await command("doctor");
  expect([none.code, none.out]).toEqual([2, expect.stringContaining("dataflex-mq doctor --redis")]);
  const gone = await command("doctor", "--redis", "redis://127.0.0.1:1");
  expect([gone.code, gone.out]).toEqual([3, expect.stringContaining("ECONNREFUSED")]);
  expect((await command("doctor", "--backend", "gpu", "--redis", good.url)).code).toBe(2);
  const gpu = await command("doctor", "--backend", "tensorflow-gpu", "--redis", good.url);
  expect([gpu.code, gpu.out]).toEqual([1, expect.stringContaining("npm install @tensorflow/tfjs-node-gpu")]);
});

test("doctor: a server that lets everybody in is wrong; one with TLS passes once its authority is known", async () => {
  const port = await freePort();
  await using _open = await startTestRedis(["--port", String(port), "--bind", "*", "--protected-mode", "no"]);
  const found = await command("doctor", "--redis", `redis://127.0.0.1:${port}`);
  expect([found.code, found.out]).toEqual([
    1,
    expect.stringMatching(/WRONG +acl[^\n]*protected-mode off\n +fix: sh config/),
  ]);

  const folder = mkdtempSync(join(tmpdir(), "dfx-tls-"));
  try {
    const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
    const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
    const made = spawnSync("openssl", [
      ...["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", cert],
      ...subject,
    ]);
    expect(made.status).toBe(0);
    const tlsPort = await freePort();
    const files = [
      "--tls-cert-file",
      cert,
      "--tls-key-file",
      key,
      "--tls-ca-cert-file",
      cert,
      "--tls-auth-clients",
      "no",
    ];
    await using _safe = await startTestRedis(["--tls-port", String(tlsPort), ...files]);
    const url = `rediss://127.0.0.1:${tlsPort}`;
    const unknown = await command("doctor", "--redis", url);
    expect([unknown.code, unknown.out]).toEqual([3, expect.stringContaining("NODE_EXTRA_CA_CERTS=")]);
    // Node reads it once, at its start.
    const known = spawnSync(process.execPath, [CLI, "doctor", "--redis", url], {
      encoding: "utf8",
      env: { ...process.env, NODE_EXTRA_CA_CERTS: cert },
    });
    expect([known.status, known.stdout]).toEqual([0, expect.stringMatching(/ok +tls +encrypted, certificate checked/)]);
    const blind = spawnSync(process.execPath, [CLI, "doctor", "--redis", url], {
      encoding: "utf8",
      env: { ...process.env, NODE_TLS_REJECT_UNAUTHORIZED: "0" },
    });
    expect([blind.status, blind.stdout]).toEqual([1, expect.stringMatching(/WRONG +tls[^\n]*\n +fix: unset NODE_TLS/)]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("export writes dashboards and rules, leaves changed files alone, and knows what it can write", async () => {
  const folder = mkdtempSync(join(tmpdir(), "dfx-export-"));
  try {
    for (const what of ["dashboards", "alerts"]) {
      const out = join(folder, what);
      expect((await command("export", what, "--out", out)).code).toBe(0);
      const files = readdirSync(out, { recursive: true, encoding: "utf8" }).filter((f) => /\.(json|ya?ml)$/.test(f));
      expect(files.length).toBeGreaterThan(2);
      expect((await command("export", what, "--out", out)).out).not.toContain("written");
      writeFileSync(join(out, files[0]!), "mine");
      const refused = await command("export", what, "--out", out);
      expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("--force")]);
      expect((await command("export", what, "--out", out, "--force")).out).toContain("written");
    }
    const unknown = await command("export", "dashboard");
    expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining('did you mean "dashboards"')]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
