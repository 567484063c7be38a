import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { dataflexMq } from "../helpers/cli.js";
import { freePort } from "../helpers/ports.js";
import { startTestRedis } from "../helpers/redis.js";

/** What a command says when it cannot begin: one error with the next step, on stderr alone, and never a password. */

const NOWHERE = "redis://127.0.0.1:1";
const USERS_OF_REDIS = ["broker", "worker", "status", "doctor"] as const;
const args = (command: string, url: string) => [
  command,
  "--redis",
  url,
  ...(command === "broker" || command === "worker" ? ["--http", "127.0.0.1:0"] : []),
];

test("without its Redis a command says so once, whatever it tried, to people and to programs", async () => {
  await Promise.all(
    ["broker", "worker", "status"].map(async (command) => {
      const [people, programs] = await Promise.all([
        dataflexMq(args(command, NOWHERE)),
        dataflexMq(["--json", ...args(command, NOWHERE)]),
      ]);
      expect([people.code, people.out, programs.code, programs.out]).toEqual([3, "", 3, ""]);
      expect(people.err).toMatch(
        /^error\[REDIS_UNREACHABLE\] cannot reach Redis at \S+ \(ECONNREFUSED\)\. Start it[^\n]*\n$/,
      );
      expect(JSON.parse(programs.err)).toMatchObject({ error: { code: "REDIS_UNREACHABLE" } });
    }),
  );
});

test.each(USERS_OF_REDIS)(
  "%s: a server that wants a password, or another one, is no absent server",
  async (command) => {
    const port = await freePort();
    await using redis = await startTestRedis(["--port", String(port)]);
    await redis.raw.config("SET", "requirepass", "right");
    for (const [user, why] of [
      ["", "NOAUTH"],
      [":wrong@", "WRONGPASS"],
    ]) {
      const { code, out, err } = await dataflexMq(args(command, `redis://${user}127.0.0.1:${port}`));
      expect([code, out + err]).toEqual([3, expect.stringContaining(`refuses this user or password (${why})`)]);
      expect(out + err).toContain("redis://USER:PASSWORD@HOST:PORT");
      expect(out + err).not.toMatch(/Start it|wrong@/);
    }
  },
);

test.each([
  "redis://someone:se/cret@127.0.0.1:6379",
  "redis://someone:se@cret@127.0.0.1:1",
  "http://someone:secret@127.0.0.1:6379",
  "unix://someone:secret@",
])("%s: the password is in no message", async (url) => {
  const answers = await Promise.all(USERS_OF_REDIS.map((command) => dataflexMq(args(command, url))));
  for (const { code, out, err } of answers) {
    expect(code).toBeGreaterThan(1);
    expect(out + err).not.toMatch(/se.?cret/);
    expect(out + err).toContain("someone:***@");
  }
});

test("a level of logging that there is not", async () => {
  for (const command of ["broker", "worker"]) {
    const { code, err } = await dataflexMq(args(command, NOWHERE), { env: { DFX_LOG: "loud" } });
    expect([code, err]).toEqual([2, expect.stringMatching(/^error\[USAGE\] DFX_LOG is "loud"; .*debug[^\n]*\n$/)]);
  }
});

test("export names the file that it cannot write, and another way", async () => {
  const folder = mkdtempSync(join(tmpdir(), "dfx-export-"));
  try {
    const file = join(folder, "file");
    writeFileSync(file, "");
    // A file where a folder is wanted, and a file system that holds no folders of ours, whoever asks.
    for (const out of [file, join(file, "deeper"), "/proc/dataflex/deeper"]) {
      const { code, err } = await dataflexMq(["export", "alerts", "--out", out]);
      expect([code, err]).toEqual([
        2,
        expect.stringMatching(/^error\[USAGE\] cannot \w+ \S+ \(E[A-Z]+\)\. Name .*--out\n$/),
      ]);
      expect(err).toContain(out);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
