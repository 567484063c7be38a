import { describe, expect, test } from "vitest";
import { connectionChecks } from "../../../src/redis/connection-checks.js";
import { type ConnectionFacts, isConfidential, reachOf, requiresAuth } from "../../../src/redis/connection-facts.js";

const LOCAL: ConnectionFacts = {
  address: "127.0.0.1",
  reach: "machine",
  encrypted: false,
  verified: true,
  user: "default",
  password: false,
};
const PRIVATE = { ...LOCAL, address: "10.0.0.7", reach: "private", password: true, user: "dataflex-worker" } as const;
const PUBLIC = { ...PRIVATE, address: "203.0.113.9", reach: "public" } as const;
const CONFIG = { bind: "127.0.0.1 -::1", "protected-mode": "yes", port: "6379" };
const find = (facts: ConnectionFacts, config: object = {}) =>
  connectionChecks(facts, new Map(Object.entries({ ...CONFIG, ...config })));

test.each([
  [undefined, "machine"],
  ["127.0.0.1", "machine"],
  ["::1", "machine"],
  ["::ffff:127.0.0.1", "machine"],
  ["10.1.2.3", "private"],
  ["172.18.0.2", "private"],
  ["172.32.0.2", "public"],
  ["192.168.1.1", "private"],
  ["::ffff:192.168.1.1", "private"],
  ["fd00::1", "private"],
  ["203.0.113.9", "public"],
  ["2001:db8::1", "public"],
])("%s is reached over: %s", (address, reach) => {
  expect(reachOf(address)).toBe(reach);
});

test("a server of this machine, and one in a private network with users, have nothing to fix", () => {
  for (const facts of [LOCAL, PRIVATE, { ...PUBLIC, encrypted: true }]) {
    expect(find(facts).filter((f) => f.level !== "ok")).toEqual([]);
    expect([requiresAuth(facts), isConfidential(facts)]).toEqual([true, true]);
  }
});

describe("what is wrong with a connection is found, with the line that fixes it, and shows in the metric", () => {
  test.each([
    ["no password over a network", { ...PRIVATE, user: "default", password: false }, {}, "acl", "make-secrets.sh"],
    ["everything in clear over the internet", PUBLIC, {}, "tls", "rediss://"],
    [
      "certificates that nobody checks",
      { ...PUBLIC, encrypted: true, verified: false },
      {},
      "tls",
      "NODE_EXTRA_CA_CERTS",
    ],
  ])("%s", (_, facts, config, name, fix) => {
    const bad = find(facts, config).filter((f) => f.level !== "ok");
    expect(bad).toMatchObject([{ name, level: "critical", fix: expect.stringContaining(fix) }]);
    expect({ acl: requiresAuth(facts), tls: isConfidential(facts) }).toEqual({
      acl: name !== "acl",
      tls: name !== "tls",
    });
  });

  test("a server of this machine that lets everybody in from elsewhere", () => {
    const bad = find(LOCAL, { bind: "* -::*", "protected-mode": "no" }).filter((f) => f.level !== "ok");
    expect(bad).toMatchObject([{ name: "acl", level: "critical", fix: expect.stringContaining("requirepass") }]);
    expect(find(LOCAL, { bind: "* -::*", "protected-mode": "no", port: "0" }).every((f) => f.level === "ok")).toBe(
      true,
    );
  });

  test("the default user with a password is worth a note", () => {
    const notes = find({ ...PRIVATE, user: "default" }).filter((f) => f.level !== "ok");
    expect(notes).toMatchObject([{ name: "acl", level: "note", fix: expect.stringContaining("make-secrets.sh") }]);
  });
});
