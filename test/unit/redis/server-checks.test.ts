import { expect, test } from "vitest";
import { parseInfo } from "../../../src/redis/fitness.js";
import { serverChecks } from "../../../src/redis/server-checks.js";

const INFO = {
  redis_version: "7.0.15",
  role: "master",
  cluster_enabled: "0",
  used_memory: "1000000",
  maxmemory: "2147483648",
};
const CONFIG = {
  "maxmemory-policy": "noeviction",
  appendonly: "yes",
  appendfsync: "everysec",
  timeout: "0",
  "tcp-keepalive": "300",
  maxclients: "10000",
  "client-output-buffer-limit": "normal 0 0 0 slave 268435456 67108864 60",
  "proto-max-bulk-len": "536870912",
};
const find = (info: object = {}, config: object | undefined = {}) =>
  serverChecks({
    info: new Map(Object.entries({ ...INFO, ...info })),
    config: config && new Map(Object.entries({ ...CONFIG, ...config })),
  });

test("a server as it should be has nothing to fix", () => {
  expect(find().filter((f) => f.level !== "ok")).toEqual([]);
});

test.each([
  ["an old version", { redis_version: "6.0.16" }, {}, "version", "critical", "install 6.2"],
  [
    "a replica",
    { role: "slave", master_host: "10.0.0.1", master_port: "6379" },
    {},
    "role",
    "critical",
    "--redis redis://10.0.0.1:6379",
  ],
  ["a cluster", { cluster_enabled: "1" }, {}, "cluster", "critical", "single server"],
  [
    "eviction",
    {},
    { "maxmemory-policy": "volatile-lru" },
    "maxmemory-policy",
    "critical",
    "CONFIG SET maxmemory-policy noeviction",
  ],
  ["no memory limit", { maxmemory: "0" }, {}, "maxmemory", "warning", "CONFIG SET maxmemory 2gb"],
  ["a memory nearly full", { used_memory: "1900000000" }, {}, "memory", "warning", "CONFIG SET maxmemory 4gb"],
  ["a full memory", { used_memory: "2140000000" }, {}, "memory", "critical", "CONFIG SET maxmemory 4gb"],
  [
    "no append-only file",
    { aof_enabled: "0" },
    { appendonly: "no" },
    "appendonly",
    "warning",
    "CONFIG SET appendonly yes",
  ],
  ["a disk write for each command", {}, { appendfsync: "always" }, "appendfsync", "warning", "everysec"],
  ["a full disk", { aof_last_write_status: "err" }, {}, "disk", "critical", "free space"],
  ["failed snapshots", { rdb_last_bgsave_status: "err" }, {}, "disk", "critical", 'CONFIG SET save ""'],
  ["an idle timeout", {}, { timeout: "60" }, "timeout", "warning", "CONFIG SET timeout 0"],
  ["no keepalive", {}, { "tcp-keepalive": "0" }, "tcp-keepalive", "warning", "CONFIG SET tcp-keepalive 60"],
  ["few connections", {}, { maxclients: "100" }, "maxclients", "warning", "CONFIG SET maxclients 10000"],
  [
    "short output buffers",
    {},
    { "client-output-buffer-limit": "normal 1048576 0 0" },
    "client-output-buffer-limit",
    "warning",
    "256mb",
  ],
  ["small bulk strings", {}, { "proto-max-bulk-len": "1048576" }, "proto-max-bulk-len", "critical", "512mb"],
])("%s is found, with the line that fixes it", (_, info, config, name, level, fix) => {
  const bad = find(info, config).filter((f) => f.level !== "ok");
  expect(bad).toMatchObject([{ name, level, fix: expect.stringContaining(fix) }]);
});

test("a server that hides its settings is judged by what INFO says", () => {
  const found = serverChecks({
    info: new Map(Object.entries({ ...INFO, maxmemory_policy: "allkeys-lru" })),
    config: undefined,
  });
  expect(found.find((f) => f.name === "maxmemory-policy")?.level).toBe("critical");
});

test("INFO is read by lines", () => {
  expect(parseInfo("# Server\r\nredis_version:7.0.15\r\nexecutable:/a:b\r\n")).toEqual(
    new Map([
      ["redis_version", "7.0.15"],
      ["executable", "/a:b"],
    ]),
  );
});
